"""The tunable finders of C++, CUDA and Triton sources."""

from __future__ import annotations

from campaigns.evaluator.contract import Source
from campaigns.proposers.search.ideas import may_have
from campaigns.syntax.tunables import find_tunables, with_value

CPP = """\
#define UNROLL 4  // turns
#define NAME other
constexpr int ROWS = 8;
constexpr float EPSILON = 1e-5f;
int plain = 3;
"""
CUDA = """\
constexpr int TILE = 16;
__global__ void k(float* x) { x[0] = 1.0f; }
extern "C" void solve(float* x) { dim3 threads(TILE, TILE); k<<<1, threads>>>(x); }
"""
TRITON = """\
import triton
import triton.language as tl

DEPTH = 32

@triton.jit
def kernel(x, N, BLOCK: tl.constexpr, DEEP: tl.constexpr, WIDE: tl.constexpr):
    tl.store(x, N)

def run_kernel(x, N):
    block = 64
    kernel[(triton.cdiv(N, 128),)](x, N, BLOCK=block, DEEP=DEPTH, WIDE=128, num_warps=4)
"""


def named(source: Source, backend: str):
    return {tunable.name: tunable for tunable in find_tunables(source, backend)}


def test_it_finds_integer_constants_in_cpp_and_no_others():
    found = named(Source("k.cpp", CPP), "cpp")
    assert {name: t.value for name, t in found.items()} == {"UNROLL": 4, "ROWS": 8}


def test_it_changes_one_number_and_no_other_byte_in_cpp():
    source = Source("k.cpp", CPP, ("-O3",))
    found = named(source, "cpp")
    changed = with_value(source, found["UNROLL"], 16)
    assert changed.text == CPP.replace("UNROLL 4 ", "UNROLL 16 ")
    assert changed.flags == ("-O3",)


def test_it_keeps_square_thread_blocks_within_1024_threads():
    tile = named(Source("k.cu", CUDA), "cuda")["TILE"]
    assert tile.square
    assert may_have(tile, 32, "cuda")
    assert not may_have(tile, 33, "cuda")


def test_it_finds_triton_constexprs_through_bindings_and_missing_options():
    found = named(Source("k.py", TRITON), "triton")
    values = {name: t.value for name, t in found.items()}
    assert values == {"BLOCK": 64, "DEEP": 32, "num_warps": 4, "num_stages": None}


def test_it_edits_the_binding_and_adds_an_absent_option():
    source = Source("k.py", TRITON)
    found = named(source, "triton")
    assert "block = 256" in with_value(source, found["BLOCK"], 256).text
    added = with_value(source, found["num_stages"], 2).text
    assert added == TRITON.replace("num_warps=4)", "num_warps=4, num_stages=2)")


def test_it_leaves_a_literal_alone_that_the_grid_repeats():
    assert "WIDE" not in named(Source("k.py", TRITON), "triton")


def test_it_finds_nothing_in_a_source_that_does_not_parse():
    assert find_tunables(Source("k.py", "def ("), "triton") == ()
    assert find_tunables(Source("k.cpp", "void f( {"), "cpp") == ()
