"""Each recipe recognises the shipped v0 (or the step before it) and refuses foreign sources."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.evaluator.contract import Source
from campaigns.problems.shipped import shipped_problems
from campaigns.proposers.base import Situation
from campaigns.proposers.recipes.base import recipes
from campaigns.spaces.constraints import DeviceLimits
from campaigns.spaces.find import space_of
from campaigns.syntax.tunables import find_tunables
from tests.campaigns.problems.test_problems import SMALL, reference_module, run_cpp, worst_margin

FOLDER = Path("campaigns/problems")
V0 = {"cpp": "v0.cpp", "cuda": "v0.cu", "triton": "v0.py"}
CHAINS = [
    (
        "cpp",
        "softmax",
        ("cpp.vector_exp", "cpp.simd_loops", "cpp.reciprocal", "cpp.parallel_outer"),
    ),
    ("cpp", "softmax", ("cpp.parallel_outer", "cpp.vector_exp")),
    ("cpp", "layernorm", ("cpp.simd_loops", "cpp.parallel_outer", "cpp.reciprocal")),
    ("cpp", "matmul", ("cpp.register_tile", "cpp.parallel_outer")),
    ("cpp", "matmul", ("cpp.interchange", "cpp.parallel_outer")),
    ("cpp", "vector_add", ("cpp.parallel_outer",)),
    ("cpp", "vector_add", ("cpp.simd_loops", "cpp.parallel_outer")),
    ("cuda", "softmax", ("cuda.threads_share_row", "cuda.row_in_registers")),
    ("cuda", "layernorm", ("cuda.threads_share_row", "cuda.row_in_registers")),
    ("cuda", "matmul", ("cuda.tile_product",)),
    ("cuda", "vector_add", ("cuda.vector_loads",)),
    ("triton", "softmax", ("triton.rows_per_program",)),
    ("triton", "layernorm", ("triton.row_at_once",)),
    ("triton", "layernorm", ("triton.row_at_once", "triton.rows_per_program")),
    ("triton", "matmul", ("triton.grouped_order", "triton.even_tiles")),
    ("triton", "matmul", ("triton.even_tiles", "triton.grouped_order")),
    ("triton", "matmul", ("triton.split_k", "triton.even_tiles")),
    ("triton", "matmul", ("triton.persistent", "triton.even_tiles")),
    ("triton", "matmul", ("triton.persistent", "triton.descriptors")),
    (
        "triton",
        "matmul",
        ("triton.grouped_order", "triton.even_tiles", "triton.descriptors", "triton.persistent"),
    ),
    ("triton", "vector_add", ("triton.blocks_per_program",)),
]
FOREIGN = {
    "cpp": 'extern "C" void solve(float* a, float* b, int n, int d) { helper(a, b, n, d); }\n',
    "cuda": "__global__ void k(float* a) { a[0] = expf(a[1]); }\n"
    'extern "C" void solve(float* a, float* b, int n, int d) { k<<<1, 1>>>(a); }\n',
    "triton": "import triton\n\ndef run_kernel(x, y, N, D):\n    y.copy_(x)\n",
}


def situation(op: str, backend: str, source: Source) -> Situation:
    return Situation(op, op, backend, source, 1, "cpu")


def v0(op: str, backend: str) -> Source:
    return Source(V0[backend], (FOLDER / op / V0[backend]).read_text())


def chained(op: str, backend: str, names: tuple[str, ...]) -> Source:
    source = v0(op, backend)
    for name in names:
        variants = recipes()[name].variants(situation(op, backend, source))
        assert variants, f"{name} does not recognise what it was given"
        assert variants[0].source.text != source.text
        source = variants[0].source
    return source


@pytest.mark.parametrize(("backend", "op", "names"), CHAINS)
def test_it_recognises_v0_and_what_the_step_before_made(backend, op, names):
    source = chained(op, backend, names)
    if backend == "triton":
        compile(source.text, source.name, "exec")


@pytest.mark.parametrize(("backend", "op", "names"), [c for c in CHAINS if c[0] == "cpp"])
def test_it_computes_the_same_after_each_cpp_rewrite(backend, op, names, tmp_path):
    source = chained(op, backend, names)
    run = reference_module(op).setup(**SMALL[op], seed=4, device="cpu")
    for output in run["outputs"]:
        run["inputs"][output].fill_(float("nan"))
    run_cpp(source.text, source.flags, run["inputs"], tmp_path)
    assert worst_margin(op, run) <= 1


@pytest.mark.judged
def test_it_computes_the_same_after_each_triton_rewrite_and_compiles(tmp_path):
    for _, op, names in (chain for chain in CHAINS if chain[0] == "triton"):
        before = chained(op, "triton", names[:-1])
        for number, variant in enumerate(
            recipes()[names[-1]].variants(situation(op, "triton", before))
        ):
            (tmp_path / f"{op}.{'+'.join(names)}.{number}.py").write_text(variant.source.text)
    command = [sys.executable, "-m", "tests.campaigns.proposers.triton_check", tmp_path]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    margins = json.loads(done.stdout)
    assert len(margins) == len(list(tmp_path.glob("*.py")))
    assert {name: margin for name, margin in margins.items() if not margin <= 1} == {}


PRODUCTS = {
    *("linear", "matmul", "matmul_bf16", "matmul_bias_gelu", "matmul_fp8", "matmul_skinny"),
}
# Recipes that know a structure, whatever the operation, and the shipped problems that have it.
STRUCTURES = {
    "triton.apart_masks": {"attention", "attention_float32"},
    "triton.describe_keys": {"attention", "attention_float32"},
    "triton.descriptors": PRODUCTS - {"linear"},
    "triton.even_tiles": PRODUCTS,
    "triton.exp2": {"attention", "attention_float32"},
    "triton.grouped_order": PRODUCTS | {"matmul_int4"},
    "triton.keys_per_turn": {"attention_decode"},
    "triton.one_walk": {"cross_entropy", "softmax_wide"},
    "triton.persistent": PRODUCTS | {"matmul_int4"},
    "triton.share_heads": {"attention_decode"},
    "triton.split_keys": {"attention_decode"},
    "triton.split_k": {"linear", "matmul", "matmul_bf16", "matmul_skinny"},
    "triton.row_at_once": {
        *("add_rmsnorm", "cross_entropy", "embedding", "layernorm", "layernorm_backward"),
        *("quantize_fp8", "rmsnorm", "softmax_wide"),
    },
    "triton.rows_per_program": {"embedding", "softmax", "topk"},
}


# One after the other.
STRUCTURE_CHAINS = {
    ("triton.apart_masks", "triton.exp2"): {"attention", "attention_float32"},
    ("triton.exp2", "triton.apart_masks"): {"attention", "attention_float32"},
    ("triton.describe_keys", "triton.exp2", "triton.apart_masks"): {
        *("attention", "attention_float32"),
    },
    ("triton.apart_masks", "triton.describe_keys", "triton.exp2"): {
        *("attention", "attention_float32"),
    },
    ("triton.one_walk", "triton.row_at_once"): {"cross_entropy", "softmax_wide"},
    ("triton.grouped_order", "triton.even_tiles", "triton.persistent"): PRODUCTS,
    (
        *("triton.grouped_order", "triton.even_tiles"),
        *("triton.persistent", "triton.descriptors"),
    ): PRODUCTS - {"linear"},
    ("triton.descriptors", "triton.grouped_order", "triton.persistent"): PRODUCTS - {"linear"},
    ("triton.row_at_once", "triton.rows_per_program"): {
        *("add_rmsnorm", "cross_entropy", "embedding", "layernorm", "layernorm_backward"),
        *("quantize_fp8", "rmsnorm"),
    },
    ("triton.share_heads", "triton.split_keys"): {"attention_decode"},
    ("triton.share_heads", "triton.exp2", "triton.split_keys"): {"attention_decode"},
    ("triton.keys_per_turn", "triton.share_heads", "triton.split_keys"): {"attention_decode"},
    ("triton.share_heads", "triton.split_keys", "triton.keys_per_turn"): {"attention_decode"},
}
ALONE = {(name,): problems for name, problems in STRUCTURES.items()}


@pytest.mark.judged
@pytest.mark.parametrize("names", [*ALONE, *STRUCTURE_CHAINS], ids="+".join)
def test_a_structure_is_rewritten_into_one_with_the_same_answers(names, tmp_path):
    wanted = set()
    for spec in (one for one in shipped_problems() if "triton" in one.files):
        source = Source("v0.py", (spec.folder / spec.files["triton"]).read_text())
        for name in names:
            made = recipes()[name].variants(situation(spec.op, "triton", source))
            if not made:
                break
            source = made[0].source
            assert not recipes()[name].variants(situation(spec.op, "triton", source))
        else:
            wanted.add(spec.name)
            (tmp_path / f"{spec.name}.py").write_text(source.text)
    assert wanted == (ALONE | STRUCTURE_CHAINS)[names]
    command = [sys.executable, "-m", "tests.campaigns.problems.interpreted", tmp_path]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    margins = json.loads(done.stdout)
    assert margins.keys() == wanted
    assert {name: each for name, each in margins.items() if not each <= 1} == {}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("triton.persistent", "tl.program_id(1)", "tl.program_id(0)"),
        ("triton.persistent", "(triton.cdiv(M, block_m),", "(triton.cdiv(2 * M, block_m),"),
        ("triton.persistent", "    inner = ", "    if K == 0:\n        return\n    inner = "),
        ("triton.descriptors", "(rows[:, None] < M) &", "(rows[:, None] > 0) &"),
        (
            "triton.descriptors",
            "(columns[None, :] < N)\n        a =",
            "(rows[None, :] < N)\n        a =",
        ),
        ("triton.descriptors", "rows[:, None] * K + k", "rows[:, None] * N + k"),
        ("triton.descriptors", "k = start + inner", "k = start + inner\n        k = k + 1"),
        (
            "triton.descriptors",
            "inner = tl.arange(0, BLOCK_K)",
            "inner = 1 + tl.arange(0, BLOCK_K)",
        ),
        ("triton.descriptors", "    matmul_tiles[", "    done = matmul_tiles["),
    ],
)
def test_a_product_that_is_another_stays(name, old, new):
    text = (FOLDER / "matmul_bf16" / "v0.py").read_text()
    recipe = recipes()[name]
    assert old in text
    assert recipe.variants(situation("matmul", "triton", Source("v0.py", text)))
    changed = Source("v0.py", text.replace(old, new))
    assert not recipe.variants(situation("matmul", "triton", changed))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tl.max(scores, axis=0)", "tl.cumsum(scores, axis=0)"),
        (
            "    for k in range(K):\n",
            "    best = 0.0\n    for k in range(K):\n        best += tl.max(scores, axis=0)\n",
        ),
        ("row * E", "row * BLOCK"),
        ("[(N,)]", "[(N, 1)]"),
        ("columns == place", "columns[:] == place"),
    ],
)
def test_rows_that_more_is_done_with_stay_alone(old, new):
    text = (FOLDER / "topk" / "v0.py").read_text()
    recipe = recipes()["triton.rows_per_program"]
    assert old in text
    assert recipe.variants(situation("topk", "triton", Source("v0.py", text)))
    changed = Source("v0.py", text.replace(old, new))
    assert not recipe.variants(situation("topk", "triton", changed))


@pytest.mark.parametrize("before", ["triton.descriptors", "triton.persistent"])
def test_sums_of_tiles_that_are_moved_otherwise_are_not_split(before):
    made = chained("matmul_skinny", "triton", (before,))
    assert not recipes()["triton.split_k"].variants(situation("matmul", "triton", made))


DECODE = (FOLDER / "attention_decode" / "v0.py").read_text()


@pytest.mark.parametrize("name", ["triton.share_heads", "triton.split_keys"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[(B, H)]", "[(B, H, 1)]"),
        ("tl.store(o_ptr + at, (mixed / total)", "tl.store(o_ptr + at, (mixed / total * 2)"),
        ("tl.maximum(peak, tl.max(scores, axis=0))", "tl.max(scores, axis=0)"),
        ("range(0, length, PAGE)", "range(PAGE, length, PAGE)"),
        ("total = 0.0", "total = 1.0"),
        ("*(q, k_pages, v_pages, block_table, lengths, o, H,", "*(*given, H,"),
    ],
)
def test_a_decoding_that_is_another_stays(name, old, new):
    recipe = recipes()[name]
    assert old in DECODE
    assert recipe.variants(situation("paged_attention", "triton", Source("v0.py", DECODE)))
    changed = situation("paged_attention", "triton", Source("v0.py", DECODE.replace(old, new)))
    assert not recipe.variants(changed)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("range(0, length, PAGE)", "range(0, length, 2 * PAGE)"),
        ("start // PAGE)", "start // 16)"),
        ("page * PAGE + places", "page * PAGE + 2 * places"),
        ("    page = ", "    token = 0\n        page = "),
    ],
)
def test_pages_that_lie_otherwise_are_taken_one_by_one(old, new):
    recipe = recipes()["triton.keys_per_turn"]
    assert old in DECODE
    changed = situation("paged_attention", "triton", Source("v0.py", DECODE.replace(old, new)))
    assert not recipe.variants(changed)


@pytest.mark.parametrize(
    ("problem", "names", "knobs"),
    [
        ("attention", ("triton.apart_masks", "triton.exp2"), {"BLOCK_M", "BLOCK_N"}),
        ("attention_float32", ("triton.apart_masks",), {"BLOCK_M", "BLOCK_N"}),
        ("attention_decode", ("triton.share_heads", "triton.keys_per_turn"), {"KEYS"}),
        ("matmul_bf16", ("triton.descriptors",), {"BLOCK_M", "BLOCK_N", "BLOCK_K"}),
        (
            "matmul_bf16",
            ("triton.grouped_order", "triton.persistent", "triton.descriptors"),
            {"BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP"},
        ),
    ],
)
def test_a_rewritten_kernel_is_tuned_as_before(problem, names, knobs):
    source = chained(problem, "triton", names)
    space = space_of(source, "triton", DeviceLimits(shared_bytes_per_block=232448), element_bytes=2)
    wanted = knobs | {"num_warps", "num_stages"}
    assert {knob.name for knob in space.knobs} == wanted
    good = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "GROUP": 8, "KEYS": 64}
    point = {"num_warps": 8, "num_stages": 3} | {name: good[name] for name in knobs}
    assert all(constraint.holds(point) for constraint in space.constraints)


LONG_ROWS = {"cross_entropy": ("V=32000", "V=128256"), "softmax_wide": ("D=32768", "D=131072")}


@pytest.mark.parametrize("names", [("row_at_once", "one_walk"), ("one_walk", "row_at_once")])
@pytest.mark.parametrize("problem", LONG_ROWS)
def test_rows_too_long_for_registers_keep_their_walks(problem, names):
    classes = LONG_ROWS[problem]
    source = v0(problem, "triton")
    for name in names:
        now = replace(situation(problem, "triton", source), classes=classes)
        (made,) = recipes()[f"triton.{name}"].variants(now)
        source = made.source
    assert source.text.count("\n@triton.jit\n") == 2
    assert "<= 32768:\n        whole_" in source.text
    walks = source.text.count("    for start in range(0,")
    assert walks == v0(problem, "triton").text.count("    for start in range(0,") - 1
    compile(source.text, source.name, "exec")
    # The recipe refuses a kernel all of whose rows are too long.
    only = replace(situation(problem, "triton", v0(problem, "triton")), classes=classes[1:])
    assert not recipes()["triton.row_at_once"].variants(only)


def test_powers_of_parts_that_are_combined_elsewhere_stay():
    names = ("triton.keys_per_turn", "triton.share_heads", "triton.split_keys")
    made = chained("attention_decode", "triton", names)
    assert not recipes()["triton.exp2"].variants(situation("paged_attention", "triton", made))


def test_heads_are_shared_before_keys_are_split():
    split = recipes()["triton.split_keys"].variants(
        situation("paged_attention", "triton", Source("v0.py", DECODE))
    )
    assert len(split) == 1
    assert "PARTS" in {one.name for one in find_tunables(split[0].source, "triton")}
    later = situation("paged_attention", "triton", split[0].source)
    assert not recipes()["triton.share_heads"].variants(later)


@pytest.mark.parametrize("name", ["attention", "attention_float32"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("range(0, ", "range(BLOCK_N, "),
        ("keys[:, None] < S", "keys[:, None] < S - 1"),
        ("scores = tl.where(", "scores = tl.where(keys > 0) & ("),
        ("keys = start", "keys = start + 1"),
    ],
)
def test_masks_that_are_not_of_the_end_and_the_diagonal_stay(name, old, new):
    text = (FOLDER / name / "v0.py").read_text()
    recipe = recipes()["triton.apart_masks"]
    assert old in text
    assert recipe.variants(situation("attention", "triton", Source("v0.py", text)))
    changed = Source("v0.py", text.replace(old, new))
    assert not recipe.variants(situation("attention", "triton", changed))


WALKS = """
import triton
import triton.language as tl


@triton.jit
def add_rows(x_ptr, y_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = 0.0
    for start in range(0, D, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * D + columns, mask=columns < D, other=0.0)
        total += tl.sum(x, axis=0)
    for start in range(0, D, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * D + columns, mask=columns < D, other=OTHER)
        tl.store(y_ptr + row * D + columns, LAST, mask=columns < D)


def run_kernel(x, y, N, D):
    add_rows[(N,)](x, y, D, BLOCK=128)
"""


def whole_rows(text: str) -> str:
    made = recipes()["triton.row_at_once"].variants(
        situation("any", "triton", Source("v0.py", text))
    )
    return made[0].source.text if made else ""


def test_a_row_is_loaded_again_only_where_its_lanes_beyond_the_end_matter():
    alike = WALKS.replace("OTHER", "0.0").replace("LAST", "x / total")
    assert whole_rows(alike).count("tl.load") == 1
    unlike = WALKS.replace("OTHER", "1.0").replace("LAST", "x / total")
    assert whole_rows(unlike).count("tl.load") == 1
    across = WALKS.replace("OTHER", "1.0").replace("LAST", "x / tl.max(x, axis=0)")
    assert whole_rows(across).count("tl.load") == 2


def test_a_row_is_loaded_again_behind_a_store_that_may_be_to_it():
    stores = "tl.store(x_ptr + row * D + columns, x * 2, mask=columns < D)\n        total +="
    text = WALKS.replace("OTHER", "0.0").replace("LAST", "x / total").replace("total +=", stores)
    assert whole_rows(text).count("tl.load") == 2
    elsewhere = text.replace("tl.store(x_ptr", "tl.store(y_ptr")
    assert whole_rows(elsewhere).count("tl.load") == 1
    in_place = elsewhere.replace("(x, y, D,", "(x, x, D,")
    assert whole_rows(in_place).count("tl.load") == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("higher = tl.maximum", "scores = scores + scale\n        higher = tl.maximum"),
        ("    o = mixed", "    peak += tl.log(total)\n    o = mixed"),
        ("tl.exp(peak - higher)", "tl.exp(2 * peak - higher)"),
    ],
)
def test_scores_that_more_is_done_with_stay_powers_of_e(old, new):
    text = (FOLDER / "attention" / "v0.py").read_text()
    recipe = recipes()["triton.exp2"]
    assert old in text
    assert recipe.variants(situation("attention", "triton", Source("v0.py", text)))
    changed = Source("v0.py", text.replace(old, new))
    assert not recipe.variants(situation("attention", "triton", changed))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("range(0, D, BLOCK)", "range(0, D, 128)"),
        ("row * D + columns", "columns"),
        ("columns < D, other=0.0", "columns[None, :] < D, other=0.0"),
        ("(x, y, D, BLOCK=128)", "(*rest, BLOCK=128)"),
        ("    total = 0.0\n", "    total = 0.0\n    while total > 1:\n        total -= 1\n"),
    ],
)
def test_what_is_no_walk_over_a_row_stays(old, new):
    text = WALKS.replace("OTHER", "0.0").replace("LAST", "x / total")
    assert old in text
    assert whole_rows(text.replace(old, new)) == ""


@pytest.mark.parametrize("name", ["triton.split_k", "triton.grouped_order"])
def test_a_grid_that_cannot_be_replaced_is_left_alone(name):
    text = (FOLDER / "matmul_skinny" / "v0.py").read_text()
    grid = "(triton.cdiv(M, block_m), triton.cdiv(N, block_n))"
    lines = grid.replace("), ", "),\n            ")
    assert grid in text
    assert recipes()[name].variants(situation("matmul", "triton", Source("v0.py", text)))
    source = Source("v0.py", text.replace(grid, lines))
    assert recipes()[name].variants(situation("matmul", "triton", source)) == ()


@pytest.mark.parametrize("name", sorted(recipes()))
def test_it_refuses_a_source_it_does_not_recognise(name):
    recipe = recipes()[name]
    backend = recipe.backend
    for op in SMALL:
        foreign = Source(V0[backend], FOREIGN[backend])
        assert recipe.variants(situation(op, backend, foreign)) == ()
        assert recipe.variants(situation(op, backend, Source("x", "def ( {"))) == ()


@pytest.mark.parametrize("name", sorted(recipes()))
def test_it_refuses_another_backend(name):
    recipe = recipes()[name]
    other = "cuda" if recipe.backend == "cpp" else "cpp"
    assert recipe.variants(situation("softmax", other, v0("softmax", other))) == ()


@pytest.mark.parametrize(("backend", "op", "names"), CHAINS)
def test_it_does_not_apply_a_recipe_twice(backend, op, names):
    last = recipes()[names[-1]]
    assert last.variants(situation(op, backend, chained(op, backend, names))) == ()


@pytest.mark.parametrize(("backend", "op", "names"), [c for c in CHAINS if c[0] == "cuda"])
def test_it_leaves_cuda_numbers_to_tune(backend, op, names):
    tunables = [t.name for t in find_tunables(chained(op, backend, names), backend)]
    assert tunables
    assert "WARP" not in tunables


def test_it_offers_three_recipes_or_more_on_each_backend():
    backends = [recipe.backend for recipe in recipes().values()]
    assert all(backends.count(name) >= 3 for name in V0)


@pytest.mark.parametrize(
    "name", ["triton.share_heads", "triton.split_keys", "triton.keys_per_turn"]
)
def test_a_source_that_repeats_every_line_is_refused_in_bounded_time(name):
    """It would be tried with the lines of each block in each of their places, 40 to the seventh."""
    head, kernel, rest = DECODE.partition("@triton.jit\n")
    body, launcher, end = rest.partition("\n\n\ndef run_kernel")
    lines = [line for line in body.split("\n") for _ in range(40 if " = " in line else 1)]
    text = "".join([head, kernel, "\n".join(lines), launcher, end])
    assert not recipes()[name].variants(
        situation("paged_attention", "triton", Source("v0.py", text))
    )
