"""PURE: text as the words that both databases index, and what people call things in queries."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

WORD = re.compile(r"[^\W_]+")
# A model's name, of which the first letters are enough: "mi300", "gfx94".
MODEL = re.compile(r"[a-z]+\d{2,}[a-z]?")
LONGEST_WORD = 60  # characters
PLACE = ("backend", "op", "platform")  # facets that are asked for together
MOST_WORDS = 20_000  # distinct words of one row; the longest shipped document has 2,000
# The facets that a search can be narrowed by, in the order in which a page shows them.
FACETS = ("op", "dtype", "backend", "platform", "arch", "symptom", "outcome", "kind")
WORKED, FAILED = "worked", "failed"
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
# Operations whose names are words of any text: only `op:copy` means the operation.
PLAIN = frozenset(
    ("copy", "sum", "mean", "max", "linear", "reduction", "elementwise", "pooling", "pipeline")
)
# Words of texts that mean the same: a query with one finds the others too.
SAME = tuple(
    frozenset(line.split())
    for line in """
    smem lds shmem
    gemm matmul
    layernorm layer_norm
    vectorize vectorise vectorized vectorised vec128 float4
    reg register registers
    transaction sector
    sync barrier syncthreads
    exp exponential exp2
    bank banks
    dsmem cluster
    bf16 bfloat16
    fp16 float16 half
    fp32 float32
    normalise normalize
    async asynchronous
    quantise quantize quantization quantisation
    pow2 power
    uncoalesced coalesce
    doublebuffer pingpong
    wave warp
    tf32 tfloat32
    wrong incorrect
    moe expert experts
    openmp omp
    misaligned unaligned aligned align
    specialise specialize specialization specialisation warpspec
    recompile recompilation recompilations compiles
    buffering buffers stages
    """.strip().splitlines()
)


def words_of(text: str) -> list[str]:
    """The words of a text in order: lower case, without accents, parted at every other sign.

    "triton.grouped_order" is three words; "BLOCK_M" is two; "2^20" is two.
    """
    if text.isascii():
        plain = text.lower()
    else:
        plain = unicodedata.normalize("NFKD", text).casefold()
        plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return [word[:LONGEST_WORD] for word in WORD.findall(plain)]


@lru_cache(maxsize=10_000)
def facet_word(name: str, value: str) -> str:
    """The word that stands for a facet in an index: "op=matmul". No text can contain it."""
    return f"{name}={'-'.join(words_of(value))}"


def place_word(facets: Mapping[str, str]) -> str:
    """The word that stands for two or three facets of `PLACE` together: "in=triton_matmul_".

    Many rows have each of them, few all of them. "" for fewer facets, or where it is too long.
    """
    values = ["-".join(words_of(facets.get(name, ""))) for name in PLACE]
    word = f"in={'_'.join(values)}"
    return word if sum(map(bool, values)) > 1 and len(word) <= LONGEST_WORD else ""


def place_words(facets: Mapping[str, str]) -> list[str]:
    """All such words of a row with these facets."""
    held = {name: facets[name] for name in PLACE if facets.get(name)}
    found = {place_word({k: v for k, v in held.items() if k != name}) for name in PLACE}
    return sorted((found | {place_word(held)}) - {""})


def index_words(texts: Iterable[str], facets: Mapping[str, str]) -> str:
    """The distinct words of a row with its facets, a space between each two."""
    found = dict.fromkeys(word for text in texts for word in words_of(text))
    marked = [facet_word(name, value) for name, value in facets.items() if value]
    return " ".join([*marked, *list(found)[:MOST_WORDS]])


# Facet → value → what people call it, with commas between.
CALLED = {
    "op": {
        "matmul": "gemm, mm, matrix multiply, matrix multiplication, matrix product, matmul",
        "layernorm": "layer norm, layer normalization, layer normalisation, layernorm",
        "rmsnorm": "rms norm, rmsnorm",
        "batchnorm": "batch norm",
        "groupnorm": "group norm",
        "vector_add": "vector addition",
        "attention": "mha, fmha, attention",
        "convolution": "conv, conv2d",
        "softmax": "softmax",
    },
    "dtype": {
        "bfloat16": "bf16, bfloat16",
        "float16": "fp16, float16",
        "float32": "fp32, f32, float32",
        "float64": "fp64",
        "float8": "fp8",
        "float8_e4m3fn": "e4m3",
        "float8_e5m2": "e5m2",
        "int8": "int8",
    },
    "backend": {
        "triton": "triton",
        "cuda": "cuda",
        "hip": "hip",
        "cpp": "cpp, c++",
        "cutedsl": "cutedsl, cute dsl",
        "flydsl": "flydsl",
    },
    "arch": {name: name for name in STANDS_FOR["arch"] if "_" not in name},
    "symptom": {
        "memory": "memory bound, bandwidth bound, bandwidth limited",
        "memory_dram": "dram bound",
        "memory_cache": "cache bound",
        "compute": "compute bound",
        "compute_tensor": "tensor bound",
        "latency": "latency bound",
        "occupancy": "occupancy bound, occupancy limited",
        "sync": "barrier bound",
        "launch": "launch bound, launch overhead",
        "tail": "tail effect",
    },
    "outcome": {
        WORKED: "worked, helped",
        FAILED: "failed, slower, regressed, did not work, did not help",
    },
}
SAID = {
    facet: {name: value for value, names in values.items() for name in names.split(", ")}
    for facet, values in CALLED.items()
}
ARCHS = tuple(dict.fromkeys(each for same in STANDS_FOR["arch"].values() for each in same))
BACKENDS = tuple(CALLED["backend"])
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


FROM_E = ("ing", "ation", "ence", "ent")


def _endings(word: str) -> set[str]:
    """English endings, cut and added; what is no word of the index is dropped by its reader."""
    if len(word) < 3 or not word.isalpha():
        return set()
    stems = {word}
    for ending in ("ing", "ed", "es", "s", "er", "ion", "ation", "ence", "ent"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word.removesuffix(ending)
            stems |= {stem, f"{stem}e"}
            if len(stem) > 3 and stem[-1] == stem[-2]:
                stems.add(stem[:-1])
    made = {f"{stem}{ending}" for stem in stems for ending in ("s", "es", "ed", "ing", "d")}
    made |= {f"{stem[:-1]}{end}" for stem in stems if stem.endswith("e") for end in FROM_E}
    made |= {f"{stem[:-1]}ies" for stem in stems if stem.endswith("y")}
    made |= {f"{stem[:-3]}y" for stem in {word, *stems} if stem.endswith("ies")}
    return stems | made
