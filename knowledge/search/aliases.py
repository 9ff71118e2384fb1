"""PURE: what people call an operation, a type, a chip or a symptom, and what the rows call it."""

from __future__ import annotations

from knowledge.search.tokens import facet_word, words_of

# The facets that a search can be narrowed by, in the order in which a page shows them.
FACETS = ("op", "dtype", "backend", "platform", "arch", "symptom", "outcome", "kind")
WORKED, FAILED = "worked", "failed"

# Facet → words that people use, several with a blank between → value.
SAID: dict[str, dict[str, str]] = {
    "op": {
        "gemm": "matmul",
        "mm": "matmul",
        "matrix multiply": "matmul",
        "matrix multiplication": "matmul",
        "matrix product": "matmul",
        "layer norm": "layernorm",
        "layer normalization": "layernorm",
        "layer normalisation": "layernorm",
        "rms norm": "rmsnorm",
        "batch norm": "batchnorm",
        "group norm": "groupnorm",
        "vector addition": "vector_add",
        "mha": "attention",
        "fmha": "attention",
        "conv": "convolution",
        "conv2d": "convolution",
        "matmul": "matmul",
        "softmax": "softmax",
        "layernorm": "layernorm",
        "rmsnorm": "rmsnorm",
        "attention": "attention",
    },
    "dtype": {
        "bf16": "bfloat16",
        "fp16": "float16",
        "fp32": "float32",
        "f32": "float32",
        "fp64": "float64",
        "fp8": "float8",
        "e4m3": "float8_e4m3fn",
        "e5m2": "float8_e5m2",
        "bfloat16": "bfloat16",
        "float16": "float16",
        "float32": "float32",
        "int8": "int8",
    },
    "backend": {
        "triton": "triton",
        "cuda": "cuda",
        "hip": "hip",
        "cpp": "cpp",
        "c++": "cpp",
        "cutedsl": "cutedsl",
        "cute dsl": "cutedsl",
        "flydsl": "flydsl",
    },
    "arch": {
        name: name
        for name in (
            *("volta", "turing", "ampere", "ada", "hopper", "blackwell"),
            *("cdna2", "cdna3", "cdna4"),
        )
    },
    "symptom": {
        "memory bound": "memory",
        "bandwidth bound": "memory",
        "bandwidth limited": "memory",
        "dram bound": "memory_dram",
        "cache bound": "memory_cache",
        "compute bound": "compute",
        "tensor bound": "compute_tensor",
        "latency bound": "latency",
        "occupancy bound": "occupancy",
        "occupancy limited": "occupancy",
        "barrier bound": "sync",
        "launch bound": "launch",
        "launch overhead": "launch",
        "tail effect": "tail",
    },
    "outcome": {
        "worked": WORKED,
        "helped": WORKED,
        "failed": FAILED,
        "slower": FAILED,
        "regressed": FAILED,
        "did not work": FAILED,
        "did not help": FAILED,
    },
}
# Value → the values that stand for it in rows, where it is not alone.
STANDS_FOR: dict[str, dict[str, tuple[str, ...]]] = {
    "arch": {
        "volta": ("sm_70",),
        "turing": ("sm_75",),
        "ampere": ("sm_80", "sm_86", "sm_87"),
        "ada": ("sm_89",),
        "hopper": ("sm_90", "sm_90a"),
        "blackwell": ("sm_100", "sm_100a", "sm_103", "sm_103a", "sm_120", "sm_120a"),
        "cdna2": ("gfx90a",),
        "cdna3": ("gfx942",),
        "cdna4": ("gfx950",),
        "sm_90": ("sm_90", "sm_90a"),
        "sm_100": ("sm_100", "sm_100a"),
        "sm_120": ("sm_120", "sm_120a"),
    },
    "dtype": {
        "bfloat16": ("bfloat16", "bf16"),
        "float16": ("float16", "fp16"),
        "float32": ("float32", "fp32"),
        "float8": ("float8", "fp8", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz"),
    },
    "op": {"convolution": ("convolution", "conv2d")},
    "symptom": {
        "memory": ("memory", "memory_dram", "memory_cache"),
        "compute": ("compute", "compute_tensor", "compute_alu"),
    },
}
ARCHS = tuple(dict.fromkeys(each for same in STANDS_FOR["arch"].values() for each in same))
BACKENDS = tuple(dict.fromkeys(SAID["backend"].values()))
# Operations whose names are words of any text: only `op:copy` means the operation.
PLAIN = frozenset(
    ("copy", "sum", "mean", "max", "linear", "reduction", "elementwise", "pooling", "pipeline")
)
# Words of texts that mean the same: a query with one finds the others too.
SAME = (
    ("smem", "lds", "shmem"),
    ("gemm", "matmul"),
    ("layernorm", "layer_norm"),
    ("vectorize", "vectorise", "vectorized", "vectorised", "vec128", "float4"),
    ("reg", "register", "registers"),
    ("transaction", "sector"),
    ("sync", "barrier", "syncthreads"),
    ("exp", "exponential", "exp2"),
    ("bank", "banks"),
    ("dsmem", "cluster"),
    ("bf16", "bfloat16"),
    ("fp16", "float16", "half"),
    ("fp32", "float32"),
    ("normalise", "normalize"),
    ("async", "asynchronous"),
    ("quantise", "quantize", "quantization", "quantisation"),
    ("pow2", "power"),
    ("uncoalesced", "coalesce"),
    ("doublebuffer", "pingpong"),
    ("wave", "warp"),
    ("tf32", "tfloat32"),
    ("wrong", "incorrect"),
    ("moe", "expert", "experts"),
    ("openmp", "omp"),
    ("misaligned", "unaligned", "aligned", "align"),
    ("specialise", "specialize", "specialization", "specialisation", "warpspec"),
    ("recompile", "recompilation", "recompilations", "compiles"),
    ("buffering", "buffers", "stages"),
)
STOP = frozenset(
    word
    for line in (
        "a an and any are as at be been but by can did do does for from had has have how i if in",
        "into is it its me my no not of on or our so than that the their them then there they this",
        "to too up us was we were what when where which while who why will with would you your",
        "anyone ever get gets got tried try slow slowly fast faster speed best better improve make",
        "makes kernel kernels optimise optimize help helps need needs should way",
    )
    for word in line.split()
)


def rows_of(name: str, value: str) -> tuple[str, ...]:
    """The index words of the rows that a facet's value asks for: "hopper" is sm_90 and sm_90a."""
    same = STANDS_FOR.get(name, {}).get(value, (value,))
    return tuple(dict.fromkeys(facet_word(name, each) for each in same))


def shown_value(word: str) -> tuple[str, str]:
    """The facet and the value that an index word stands for: ("arch", "sm_90a")."""
    name, _, value = word.partition("=")
    return name, value if name == "platform" else value.replace("-", "_")


def likenesses(word: str) -> tuple[str, ...]:
    """Other words of texts that a query with this one asks for too: its plural, and synonyms."""
    found = {word}
    for group in SAME:
        if word in group:
            found.update(group)
    for each in tuple(found):
        found.update(_endings(each))
    return tuple(sorted(found - {word}))


def said_words(phrase: str) -> tuple[str, ...]:
    """A phrase of `SAID` as the words that a query is read as."""
    return ("c",) if phrase == "c++" else tuple(words_of(phrase))


def _endings(word: str) -> set[str]:
    """English endings, cut and added; what is no word of the index is dropped by its reader."""
    if len(word) < 3 or not word.isalpha():
        return set()
    stems = {word}
    for ending in ("ing", "ed", "es", "s", "er", "ion"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word.removesuffix(ending)
            stems |= {stem, f"{stem}e"}
            if len(stem) > 3 and stem[-1] == stem[-2]:
                stems.add(stem[:-1])
    made = {f"{stem}{ending}" for stem in stems for ending in ("s", "es", "ed", "ing", "d")}
    made |= {f"{stem[:-1]}ing" for stem in stems if stem.endswith("e")}
    made |= {f"{stem[:-1]}ies" for stem in stems if stem.endswith("y")}
    made |= {f"{stem[:-3]}y" for stem in {word, *stems} if stem.endswith("ies")}
    return stems | made
