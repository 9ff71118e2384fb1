"""Which kernels a source defines, and what the tracer's names say."""

import pytest

from campaigns.evaluator.builds.kernel_names import cuda_kernels, last_name, triton_kernels
from campaigns.evaluator.contract.backends import get
from campaigns.problems.shipped import shipped_problems

TRITON = """
import triton
from triton import jit
from triton import jit as device

@triton.autotune(configs=[], key=["n"])
@triton.jit
def tuned(x): ...

@jit
def plain(x): ...

@device
def renamed(x): ...

@triton.jit(do_not_specialize=["n"])
def called(x): ...

def _raw(x): ...
given = triton.jit(_raw)

def make():
    @triton.jit
    def inner(x): ...
    return inner

# @triton.jit def in_a_comment(x): ...
def run_kernel(x): ...
"""
CUDA = """
// __global__ void in_a_comment(int n) {}
const char* text = "__global__ void in_a_string(int n) {}";
#define KERNEL static __global__ void
__global__ void plain(const float* x) {}
template <int N> __global__ void __launch_bounds__(256, 2) bounded(float* y) {}
void __global__ turned(float* y);
extern "C" __global__ void __cluster_dims__(2, 1, 1) clustered(float* y) {}
KERNEL behind_a_macro(float* y) {}
namespace mine { __global__ void BOUNDS(128) spaced(float* y) {} }
__device__ float helper(float x) { return x; }
extern "C" void solve(const float* x, float* y) { plain<<<1, 1>>>(x); }
"""


def test_it_finds_the_kernels_of_a_triton_source():
    assert triton_kernels(TRITON) == ("tuned", "plain", "renamed", "called", "_raw", "inner")
    assert triton_kernels("def broken(") == ()
    assert triton_kernels("x = " + "-" * 100_000 + "1") == ()


def test_it_finds_the_kernels_of_a_cuda_source():
    found = ("plain", "bounded", "turned", "clustered", "behind_a_macro", "spaced")
    assert [name for name in cuda_kernels(CUDA) if name in found] == list(found)
    assert not {"in_a_comment", "in_a_string", "helper", "solve"} & set(cuda_kernels(CUDA))
    assert cuda_kernels("__global__ void unfinished(((") == ("unfinished",)
    assert cuda_kernels("__global__") == ()
    # What a macro pastes together is in no text; a campaign can declare it.
    assert (
        cuda_kernels("#define MADE(n) __global__ void n##_rows\nMADE(softmax)(float* y) {}") == ()
    )


SHIPPED = [
    pytest.param(problem, backend, id=f"{backend}-{problem.name}")
    for problem in shipped_problems()
    for backend in ("triton", "cuda")
    if backend in problem.files
]


@pytest.mark.parametrize(("problem", "backend"), SHIPPED)
def test_it_finds_a_kernel_in_what_is_shipped(problem, backend):
    text = (problem.folder / problem.files[backend]).read_text()
    assert get(backend).kernels(text)


def test_it_knows_of_no_kernels_in_plain_cpp():
    assert get("cpp").kernels("void solve() {}") == ()


@pytest.mark.parametrize(
    ("traced", "name"),
    [
        ("softmax_rows", "softmax_rows"),
        ("softmax_rows(float const*, float*, int, int)", "softmax_rows"),
        ("void softmax_rows<256, float>(float const*, float*)", "softmax_rows"),
        ("(anonymous namespace)::rows(float*)", "rows"),
        ("void a::b<c::d<(int)4> >::rows<true>(float*)", "rows"),
        ("void at::native::vectorized_elementwise_kernel<4, at::X>(int)", ""),
        ("Memset (Device)", ""),
        ("Memcpy DtoD (Device -> Device)", ""),
        ("Memcpy HtoD (Pageable -> Device)", ""),
        ("MemcpyRows", "MemcpyRows"),
        ("Memset_rows(float*, int)", "Memset_rows"),
        ("", ""),
    ],
)
def test_it_takes_the_last_name_of_what_was_traced(traced, name):
    assert last_name(traced) == name
