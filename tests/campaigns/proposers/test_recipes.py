"""Each recipe recognises the shipped v0 (or the step before it) and refuses foreign sources."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import Situation
from campaigns.proposers.recipes.base import recipes
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
    ("cuda", "softmax", ("cuda.block_per_row", "cuda.row_in_registers")),
    ("cuda", "layernorm", ("cuda.block_per_row", "cuda.row_in_registers")),
    ("cuda", "matmul", ("cuda.shared_tile", "cuda.register_tile")),
    ("cuda", "matmul", ("cuda.register_tile",)),
    ("cuda", "vector_add", ("cuda.vector_access",)),
    ("triton", "softmax", ("triton.rows_per_program",)),
    ("triton", "layernorm", ("triton.row_at_once",)),
    ("triton", "layernorm", ("triton.row_at_once", "triton.rows_per_program")),
    ("triton", "matmul", ("triton.grouped_order", "triton.even_tiles")),
    ("triton", "matmul", ("triton.even_tiles", "triton.grouped_order")),
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
