"""CUDA recipes that know a structure: which shipped kernels have it, and what becomes of those."""

from __future__ import annotations

import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from campaigns.evaluator.contract import Source
from campaigns.problems.shipped import shipped_problems
from campaigns.proposers.base import Situation
from campaigns.proposers.recipes.base import recipes
from tests.campaigns.problems.cuda_on_cpu import load
from tests.campaigns.problems.test_first_kernels import margins_by

NVCC = shutil.which("nvcc")
PROBLEMS = {spec.name: spec for spec in shipped_problems() if "cuda" in spec.files}
ROWS = {
    *("add_rmsnorm", "cross_entropy", "layernorm", "layernorm_backward", "quantize_fp8"),
    *("rmsnorm", "softmax", "softmax_wide"),
}
BF16_PRODUCTS = {"matmul_bf16", "matmul_bias_gelu", "matmul_skinny"}
# By one recipe, or several one after the other, the shipped problems whose v0 they rewrite.
STRUCTURES = {
    ("cuda.tensor_cores",): BF16_PRODUCTS,
    ("cuda.threads_share_row",): ROWS,
    ("cuda.threads_share_row", "cuda.row_in_registers"): {"layernorm", "softmax"},
    ("cuda.vector_loads",): {"embedding", "rope", "silu_mul", "vector_add"},
    ("cuda.tile_product",): BF16_PRODUCTS | {"matmul", "matmul_fp8"},
}


def v0(name):
    return Source("v0.cu", (PROBLEMS[name].folder / PROBLEMS[name].files["cuda"]).read_text())


def variants_of(name, source, op="any"):
    return recipes()[name].variants(Situation("any", op, "cuda", source, 1, "cpu"))


def rewritten(problem, names):
    """All sources that the last of these recipes makes of a v0, after the first ones of others."""
    made = [v0(problem)]
    for name in names:
        found = variants_of(name, made[0], PROBLEMS[problem].op) if made else ()
        made = [variant.source for variant in found]
    return made


@pytest.mark.parametrize("names", STRUCTURES)
def test_a_structure_is_found_in_these_problems_and_never_twice(names):
    assert {problem for problem in PROBLEMS if rewritten(problem, names)} == STRUCTURES[names]
    for problem in STRUCTURES[names]:
        for source in rewritten(problem, names):
            assert not variants_of(names[-1], source, PROBLEMS[problem].op)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What every structure is rewritten into: the first and the last of three variants."""
    made = tmp_path_factory.mktemp("rewritten")
    for names, problems in STRUCTURES.items():
        for problem in problems:
            for number, source in enumerate(rewritten(problem, names)[::2]):
                (made / f"{problem}.{'+'.join(names)}.{number}.cu").write_text(source.text)
    return made


@pytest.mark.long
def test_what_is_rewritten_gives_the_same_answers(folder):
    margins = margins_by("cuda_on_cpu", folder)
    assert margins.keys() == {path.stem for path in folder.iterdir()}
    assert {name: margin for name, margin in margins.items() if not margin <= 1} == {}


@pytest.mark.long
@pytest.mark.skipif(NVCC is None, reason="nvcc is not here, so that nothing is compiled for a GPU")
def test_what_is_rewritten_compiles_for_a_gpu(folder, tmp_path):
    def complaint(path):
        command = [NVCC, "-arch=sm_90", "-std=c++17", "-cubin", path, "-o", tmp_path / path.stem]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stderr if done.returncode else ""

    with ThreadPoolExecutor(2) as pool:
        paths = sorted(folder.iterdir())
        told = dict(zip(paths, pool.map(complaint, paths), strict=True))
    assert {path.name: text for path, text in told.items() if text} == {}


ADDED = """
__global__ void add_rows(const float* x, float* y, float* sums, int N, int D) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= N) return;
    float total = 0.0f;
    for (int j = 0; j < D; ++j) {
        total += x[row * D + j];
    }
    for (int j = 0; j < D; ++j) {
        y[row * D + j] = x[row * D + j] / total;
    }
    sums[row] = total;
}

extern "C" void solve(const float* x, float* y, float* sums, int N, int D) {
    add_rows<<<(N + 64 - 1) / 64, 64>>>(x, y, sums, N, D);
}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("float total = 0.0f", "float total = 1.0f"),
        ("/ total;", "/ y[row * D];"),
        ("y[row * D + j] =", "y[row * D + j / 2] ="),
        ("y[row * D + j] =", "y[row] ="),
        ("y[row * D + j] =", "y[row * D + j % 2] ="),
        ("    int row", "    int block = blockIdx.x;\n    int row"),
        ("__global__", "template <typename T> __global__"),
        ("__global__ void", "__global__ void __launch_bounds__(64)"),
        ("x[row * D + j] / total", "y[row * D + D - 1 - j] / total"),
        ("total += x[row * D + j]", "total += x[j * N + row]"),
        ("total += x[row * D + j]", "total += x[row * D + j] * total"),
        ("total += x[row * D + j]", "total += atomicAdd(y, 1.0f)"),
        ("total += x[row * D + j]", "if (x[row * D + j] > 0) break"),
        ("(x, y, sums, N, D);\n}", "(x, sums, sums, N, D);\n}"),
        ("(x, y, sums, N, D);\n}", "(x, y, sums, N + 1, D);\n}"),
        ("if (row >= N) return;", ""),
        ("sums[row] = total;", "sums[row] = threadIdx.x;"),
    ],
)
def test_a_row_that_is_no_row_of_its_own_keeps_its_thread(old, new):
    assert variants_of("cuda.threads_share_row", Source("v0.cu", ADDED))
    assert old in ADDED
    changed = Source("v0.cu", ADDED.replace(old, new))
    assert variants_of("cuda.threads_share_row", changed) == ()


def test_few_rows_of_a_product_get_flat_tiles_first():
    flat, square = (
        variants_of("cuda.tile_product", v0(name))[0].label
        for name in ("matmul_skinny", "matmul_bf16")
    )
    assert (flat, square) == ("16 x 64", "64 x 64")


@pytest.mark.long
@pytest.mark.parametrize("name", ["cuda.tile_product", "cuda.tensor_cores"])
def test_a_transposed_factor_is_copied_along_its_rows(name, tmp_path):
    text = v0("matmul_bf16").text
    transposed = text.replace("static_cast<long>(k) * N + column", "column * K + k")
    assert transposed != text
    made = variants_of(name, Source("v0.cu", transposed))[0].source.text
    assert "column = leftmost + place / DEPTH, k = begin + place % DEPTH" in made
    m, k, n = 35, 72, 41
    generator = torch.Generator().manual_seed(1)
    left, right = (torch.randn(size, k, generator=generator).bfloat16() for size in (m, n))
    answer = torch.empty(m, n, dtype=torch.bfloat16)
    (tmp_path / "made.cu").write_text(made)
    load(tmp_path / "made.cu")(a=left, b=right, c=answer, m=m, k=k, n=n)
    torch.testing.assert_close(answer, (left.float() @ right.float().T).bfloat16())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("float sum = 0.0f", "float sum = 1.0f"),
        ("sum += ", "sum -= "),
        ("sum += ", "float part = "),
        ("sum += __bfloat162float(a[k]) *", "sum += 1.0f;\n//"),
        ("int row", "long row"),
        ("a[k]", "a[column]"),
        ("a[k]) *", "a[k]) +"),
        ("sum += __bfloat162float(a[k])", "sum += __bfloat162float(C[k])"),
        ("static_cast<long>(k) * N + column", "static_cast<long>(k) * N + row"),
        ("++k", "k += 2"),
        ("row >= M || column", "row >= M && column"),
        ("(A, B, C, M, K, N);", "(A, B, C, M);"),
        ("float sum", "int top = row; float sum"),
    ],
)
@pytest.mark.parametrize("name", ["cuda.tile_product", "cuda.tensor_cores"])
def test_what_is_no_product_of_a_row_and_a_column_keeps_its_threads(name, old, new):
    text = v0("matmul_bf16").text
    assert old in text
    assert variants_of(name, Source("v0.cu", text.replace(old, new))) == ()


def test_a_product_of_square_matrices_is_one_too():
    square = re.sub(r"\b[MK]\b", "N", v0("matmul_bf16").text).replace("int N,\n", "\n")
    square = re.sub(r"int N, int N(, int N)?|int N,\s+int N, int N", "int N", square)
    assert variants_of("cuda.tensor_cores", Source("v0.cu", square.replace("N, N, N)", "N)")))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a[k]", "a[2 * k]"),
        ("a[k]", "a[k % 8]"),
        ("sum += ", "sum += -"),
        ("(a[k])", "(a[k]) / 2"),
        ("* N + column]", "* N + 2 * column]"),
    ],
)
def test_what_tensor_cores_cannot_read_is_left_to_other_units(old, new):
    source = Source("v0.cu", v0("matmul_bf16").text.replace(old, new))
    assert variants_of("cuda.tensor_cores", source) == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("output[i] =", "output[2 * i] ="),
        ("output[i] =", "output[i / 2] ="),
        ("output[i] =", "output[count - i] ="),
        ("__bfloat162float(up[i])", "__bfloat162float(up[i % threadIdx.x])"),
        ("__bfloat162float(up[i])", "__bfloat162float(output[i + 1])"),
        ("up[i]", "up[i * i]"),
        ("float g =", "i = i / 2; float g ="),
        ("if (i >= count) return;", "if (i > count) return;"),
        ("(count + THREADS - 1) / THREADS", "count"),
        ("float g =", "__nv_bfloat16& place = output[i]; float g ="),
        ("float g =", "__nv_bfloat16* place = &output[i]; *place = up[i]; float g ="),
    ],
)
def test_values_that_are_no_neighbours_are_moved_one_by_one(old, new):
    text = v0("silu_mul").text
    assert old in text
    assert variants_of("cuda.vector_loads", Source("v0.cu", text.replace(old, new))) == ()


def test_rows_of_whole_vectors_are_asked_for_where_an_index_is_divided():
    made = variants_of("cuda.vector_loads", v0("embedding"))[0].source.text
    assert "D % VALUES == 0" in made
    assert "VALUES == 0" not in variants_of("cuda.vector_loads", v0("vector_add"))[0].source.text
