"""A dispatcher of two sources: it compiles, each class runs its own kernel, and all are right."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from campaigns.evaluator.backends.cuda import target_flags
from campaigns.evaluator.builds.kernel_names import cuda_kernels, triton_kernels
from campaigns.evaluator.contract import Source
from campaigns.proposers.dispatch.generate import dispatcher, given_integers
from campaigns.proposers.dispatch.parts import CannotSplit, DispatchPlan, Part
from campaigns.rules.verdict.predicate import ColumnRange, Predicate
from tests.campaigns.problems.test_problems import reference_module, run_cpp, worst_margin
from tests.campaigns.proposers.test_recipes import chained, v0

# Names that v0 and this one share, and what would clash outside a namespace.
BUSY = """\
#define _USE_SOMETHING
#include <cmath>
#pragma GCC optimize("O3")
#define TILE {tile}
#ifdef __AVX2__
#include <immintrin.h>
#else
#include <algorithm>
#endif
using namespace std;
struct Row {{ float total; }};
static int calls = 0;
extern "C" double cos(double);
extern "C" {{
static float helper(float x) {{ return {body}; }}
}}
namespace deep {{
float peak_of(const float* x, int n) {{
    float peak = x[0];
    for (int j = 0; j < n; ++j) peak = fmaxf(peak, x[j]);
    return peak;
}}
}}
#include <vector>
extern "C" void solve(const float* __restrict__ in, float* out, const int rows, int cols) {{
    ++calls;
    for (int r = 0; r < rows; ++r) {{
        const float* x = in + static_cast<long>(r) * cols;
        float* y = out + static_cast<long>(r) * cols;
        Row row{{0.0f}};
        float peak = deep::peak_of(x, cols);
        for (int j = 0; j < cols; ++j) row.total += y[j] = helper(x[j] - peak);
        for (int j = 0; j < cols; ++j) y[j] *= TILE / (row.total * TILE);
    }}
}}
"""
RIGHT = Source("kernel.cpp", BUSY.format(tile=8, body="expf(x)"))
# Wrong on purpose: where it runs, the answer says so.
WRONG = Source("kernel.cpp", BUSY.format(tile=16, body="1.0f + 0 * x"), ("-O3",))


def from_(low: int) -> Predicate:
    return Predicate(((ColumnRange("D", low, None),),))


def split(
    incumbent: Source, variant: Source, when: Predicate, backend: str = "cpp", number: int = 1
) -> Source:
    parts = Part(f"round_{number}", incumbent), Part(f"round_{number + 1}", variant)
    return dispatcher(backend, DispatchPlan(*parts, v0("softmax", backend), when))


def margin(source: Source, width: int, folder: Path) -> float:
    """How wrong it is on rows of that length, as a share of the tolerance."""
    run = reference_module("softmax").setup(N=5, D=width, seed=3, device="cpu")
    for output in run["outputs"]:
        run["inputs"][output].fill_(float("nan"))
    place = folder / f"{abs(hash((source.text, width)))}"
    place.mkdir()
    run_cpp(source.text, source.flags, run["inputs"], place)
    return worst_margin("softmax", run)


def test_r19_each_class_runs_its_own_kernel_of_one_source(tmp_path):
    made = split(RIGHT, WRONG, from_(100))
    assert margin(made, 67, tmp_path) <= 1 < margin(made, 100, tmp_path)
    other = split(WRONG, RIGHT, from_(100))
    assert margin(other, 67, tmp_path) > 1 >= margin(other, 100, tmp_path)
    assert made.flags == other.flags == ("-O3",)
    assert made.text.startswith(
        "// Dispatch split: D ≥ 100 runs the kernel of round 2, all else that of round 1.\n"
    )


def test_r19_macros_and_compiler_pragmas_of_one_part_end_with_it(tmp_path):
    # Were TILE of the first part left, the second could not define it to another value silently.
    made = split(RIGHT, WRONG, from_(100))
    assert made.text.count('#pragma push_macro("TILE")') == 2
    assert made.text.count('#pragma pop_macro("TILE")') == 2
    assert made.text.count("#pragma GCC pop_options") == 2
    leaky = Source("a.cpp", "#define peak 0\n" + RIGHT.text.replace("peak", "top"))
    assert margin(split(leaky, v0("softmax", "cpp"), from_(100)), 128, tmp_path) <= 1


def test_r19_a_dispatcher_is_split_once_more(tmp_path):
    once = split(v0("softmax", "cpp"), WRONG, from_(100))
    twice = split(once, RIGHT, from_(200), number=3)
    assert margin(twice, 67, tmp_path) <= 1
    assert margin(twice, 100, tmp_path) > 1
    assert margin(twice, 200, tmp_path) <= 1
    # And a variant that is one: what was proposed against a dispatcher has it inside.
    again = split(v0("softmax", "cpp"), twice, from_(150), number=7)
    assert margin(again, 149, tmp_path) <= 1
    assert margin(again, 199, tmp_path) > 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("int broken( {", "syntax error"),
        ("void solve(float* a, float* b, int n, int d) {}", 'behind extern "C"; accepted: one'),
        ('extern "C" void solve(float* a, int n) {}', "4 parameters in v0"),
        (
            "namespace std { struct mine {}; }\n"
            'extern "C" void solve(float* a, float* b, int n, int d) {}',
            "adds to namespace std",
        ),
        (
            "namespace mine {\n#include <cmath>\n}\n"
            'extern "C" void solve(float* a, float* b, int n, int d) {}',
            "inside a block",
        ),
        (
            "#if 1\n#include <cmath>\nstatic int x;\n#endif\n"
            'extern "C" void solve(float* a, float* b, int n, int d) {}',
            "code beside an #include",
        ),
        (
            "#if 1\n#else\n#include <cmath>\nstatic int x;\n#endif\n"
            'extern "C" void solve(float* a, float* b, int n, int d) {}',
            "code beside an #include",
        ),
        (
            'extern "C" { void puts(const char*); void helper() {} }\n'
            'extern "C" void solve(float* a, float* b, int n, int d) {}',
            "declares puts of elsewhere",
        ),
    ],
)
def test_r19_what_can_not_stand_beside_another_source_is_refused(text, why):
    with pytest.raises(CannotSplit, match=why):
        split(v0("softmax", "cpp"), Source("kernel.cpp", text), from_(100))


def test_r19_a_predicate_may_ask_for_the_integers_that_solve_receives():
    assert given_integers("cpp", v0("softmax", "cpp")) == {"N", "D"}
    assert given_integers("cuda", v0("matmul", "cuda")) == {"M", "K", "N"}
    assert given_integers("triton", v0("softmax", "triton")) >= {"N", "D"}
    with pytest.raises(CannotSplit, match="accepted: cpp, cuda, triton"):
        given_integers("hip", v0("softmax", "cpp"))


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")
def test_r19_two_cuda_sources_compile_as_one(tmp_path):
    plain = v0("softmax", "cuda")
    rows = chained("softmax", "cuda", ("cuda.threads_share_row", "cuda.row_in_registers"))
    once = split(plain, rows, from_(2048), "cuda")
    twice = split(
        once, chained("softmax", "cuda", ("cuda.threads_share_row",)), from_(64), "cuda", 3
    )
    for made in (once, twice):
        assert set(cuda_kernels(made.text)) >= set(
            cuda_kernels(plain.text) + cuda_kernels(rows.text)
        )
        path = tmp_path / "kernel.cu"
        path.write_text(made.text)
        flags = ["-shared", "-Xcompiler=-fPIC", *target_flags("sm_90"), *made.flags]
        out = tmp_path / "kernel.so"
        subprocess.run(["nvcc", *flags, "-o", out, path], check=True, capture_output=True)
        assert b"solve" in subprocess.run(["nm", "-D", out], capture_output=True).stdout


MODULE = """\
'''Another softmax.'''
from __future__ import annotations

import triton
from triton import language as tl

BLOCK = {block}
softmax_rows = None


def widened(D):
    global BLOCK
    BLOCK = max(BLOCK, triton.next_power_of_2(D))
    return [BLOCK for BLOCK in (BLOCK,)][0]


@triton.jit
def softmax_rows(x_ptr, y_ptr, N, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * D + columns, mask=columns < D, other=-float("inf"))
    powers = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * D + columns, powers / tl.sum(powers, axis=0){more}, mask=columns < D)


def run_kernel(input, output, N, D):
    softmax_rows[(N,)](input, output, N, D, BLOCK=widened(D))
"""


@pytest.mark.judged
def test_r19_two_triton_modules_are_one_that_is_right(tmp_path):
    plain = v0("softmax", "triton")
    right = Source("kernel.py", MODULE.format(block=16, more=""))
    wrong = Source("kernel.py", MODULE.format(block=32, more=" + 1"))
    once = split(plain, right, from_(50), "triton")
    made = {
        "variant": once,
        "incumbent": split(right, wrong, from_(100), "triton"),
        "wrong": split(right, wrong, from_(50), "triton"),
        "twice": split(once, wrong, from_(100), "triton", 3),
    }
    assert set(triton_kernels(made["twice"].text)) == {
        "round_3_round_1_softmax_rows",
        "round_3_round_2_softmax_rows",
        "round_4_softmax_rows",
    }
    for name, source in made.items():
        (tmp_path / f"softmax.{name}.py").write_text(source.text)
    found = subprocess.run(
        [sys.executable, "-m", "tests.campaigns.proposers.triton_check", str(tmp_path)],
        check=True,
        capture_output=True,
        text=True,
    )
    margins = json.loads(found.stdout)
    assert {name.split(".")[1]: value <= 1 for name, value in margins.items()} == {
        "variant": True,
        "incumbent": True,
        "wrong": False,
        "twice": True,
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("from math import *\ndef run_kernel(**a): ...\n", r"import \*"),
        ("import jax as tl\ndef run_kernel(**a): ...\n", "tl: imported as"),
        ("def run_kernel(**a): globals()['x'] = 1\n", "reaches names by their text"),
        ("def other(): ...\n", "no function run_kernel"),
        (
            "def run_kernel(input, N, D): ...\n",
            "takes other arguments than v0's input, output, N, D",
        ),
        ("def run_kernel(input, output, N, D, eps): ...\n", "takes other arguments"),
        ("def run_kernel(:\n", "line 1"),
    ],
)
def test_r19_what_a_triton_module_can_not_share_is_refused(text, why):
    with pytest.raises(CannotSplit, match=why):
        split(v0("softmax", "triton"), Source("kernel.py", text), from_(100), "triton")


def test_what_the_parts_return_is_returned():
    plain, doubled = (
        Source("kernel.py", f"def run_kernel(input, N, D):\n    return {body}\n")
        for body in ("input", "input * 2")
    )
    space = {}
    parts = Part("round_1", plain), Part("round_2", doubled)
    exec(dispatcher("triton", DispatchPlan(*parts, plain, from_(100))).text, space)
    assert [space["run_kernel"](7, N=1, D=d) for d in (99, 100)] == [7, 14]
