"""Knobs of C++ and CUDA sources: constants, literals, what compilers are told, and flags."""

from __future__ import annotations

import pytest

from campaigns.evaluator.contract import Source
from campaigns.spaces.constraints import DeviceLimits
from campaigns.spaces.find import MOST_KNOBS, space_of
from campaigns.spaces.render import render
from tests.campaigns.spaces.device import HOPPER

CPP = """\
#define UNROLL 4  // turns
#define NAME other
constexpr int ROWS = 8;
constexpr float EPSILON = 1e-5f;

static float twice(float a) { return 2 * a; }

extern "C" void solve(float* x, float* y, int N) {
    for (int i = 0; i < N; ++i) {
        y[i] = x[i];
    }
    for (int j = 0; j < N; ++j) {
        y[j] = twice(x[j]);
    }
#pragma GCC unroll 2
    for (int k = 0; k < N; ++k) {
        y[k] += x[k];
    }
#pragma omp simd
    for (int l = 0; l < N; ++l) {
        y[l] += x[l];
    }
    if (N > 4)
        for (int m = 0; m < N; ++m) y[m] = 0.0f;
}
"""
KERNEL = """\
__global__ void scale(float* x, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) x[i] *= 2.0f;
}
"""


def cuda(launch: str, kernel: str = KERNEL) -> Source:
    return Source(
        "k.cu", f'{kernel}\nextern "C" void solve(float* x, int N) {{\n    {launch}\n}}\n'
    )


def space(source: Source, limits: DeviceLimits = HOPPER, **options):
    return space_of(source, "cpp" if source.name == "k.cpp" else "cuda", limits, **options)


def knobs(source: Source):
    return {knob.name: knob for knob in space(source).knobs}


def rendered(source: Source, **values):
    found = space(source)
    return render(source, found, {**found.defaults, **values})


def test_it_finds_constants_loops_and_flags_in_cpp_and_no_others():
    found = {name: knob.default for name, knob in knobs(Source("k.cpp", CPP)).items()}
    assert found == {"UNROLL": 4, "ROWS": 8, "flags": "", "unroll_i": 0, "unroll_k": 2}


def test_it_changes_one_number_and_no_other_byte():
    source = Source("k.cpp", CPP, ("-fopenmp",))
    assert rendered(source, UNROLL=16) == Source(
        "k.cpp", CPP.replace("UNROLL 4 ", "UNROLL 16 "), ("-fopenmp",)
    )
    assert rendered(source, unroll_k=8).text == CPP.replace("unroll 2", "unroll 8")
    loop = "    for (int i = 0"
    pragma = f"    #pragma GCC unroll 4\n{loop}"
    assert rendered(source, unroll_i=4).text == CPP.replace(loop, pragma)


def test_flags_are_one_choice_and_others_stay():
    source = Source("k.cpp", CPP, ("-fopenmp", "-O3", "-march=native"))
    found = knobs(source)["flags"]
    assert found.default == "-O3 -march=native"
    assert not any("fast-math" in str(value) for value in found.values)
    assert rendered(source, flags="").flags == ("-fopenmp",)
    chosen = "-O3 -march=native -funroll-loops"
    assert rendered(source, flags=chosen).flags == ("-fopenmp", *chosen.split())


def test_flags_that_relax_arithmetic_are_asked_for_or_already_there():
    relaxed = space(Source("k.cpp", CPP), relaxed=True)
    assert relaxed.is_legal({**relaxed.defaults, "flags": "-O3 -march=native -ffast-math"}) == ""
    source = Source("k.cpp", CPP, ("-ffast-math",))
    assert knobs(source)["flags"].default == "-ffast-math"
    assert rendered(source, flags="-O3").flags == ("-O3",)


def test_a_chip_fact_and_a_size_are_no_choice():
    text = "constexpr int WARP_SIZE = 32;\n#define N 100000000\nconstexpr int ROWS = 8;\n"
    assert list(knobs(Source("k.cpp", text))) == ["flags", "ROWS"]


@pytest.mark.parametrize(
    ("launch", "name"),
    [
        ("scale<<<(N + 255) / 256, 256>>>(x, N);", "block"),
        ("int n = 256; scale<<<(N + n - 1) / n, n>>>(x, N);", "n"),
        ("int blocks = (N + 255) / 256; scale<<<blocks, 256>>>(x, N);", "block"),
        ("dim3 shape(256); scale<<<dim3((N + 255) / 256), shape>>>(x, N);", "block"),
    ],
)
def test_a_literal_block_is_written_with_the_grid_that_it_divides(launch, name):
    source = cuda(launch)
    assert knobs(source)[name].values == (32, 64, 128, 256, 512, 1024)
    changed = rendered(source, **{name: 512})
    assert changed.text == source.text.replace("256", "512").replace("255", "(512 - 1)")
    assert knobs(changed)[name].default == 512
    assert rendered(changed, **{name: 256}).text == source.text.replace("255", "(256 - 1)")


@pytest.mark.parametrize(
    ("launch", "kernel"),
    [
        ("scale<<<(N + 255) / 256, 256>>>(x, N);", KERNEL.replace("x[i] *=", "x[i % 256] *=")),
        ("scale<<<(N + 255) / 256, 256>>>(x, N); x += 256;", KERNEL),
        ("int n = 256; n = N; scale<<<(N + n - 1) / n, n>>>(x, N);", KERNEL),
    ],
)
def test_a_literal_that_the_source_repeats_elsewhere_is_left_alone(launch, kernel):
    assert not {"block", "n"} & set(knobs(cuda(launch, kernel)))


def test_a_template_argument_is_a_knob_where_it_is_instantiated_once():
    kernel = f"template <int PER, typename T>\n{KERNEL.replace('float*', 'T*')}"
    once = cuda("scale<4, float><<<N, 256>>>(x, N);", kernel)
    assert knobs(once)["PER"].default == 4
    assert "scale<16, float>" in rendered(once, PER=16).text
    twice = cuda("scale<4, float><<<N, 256>>>(x, N); scale<8, float><<<N, 256>>>(x, N);", kernel)
    assert "PER" not in knobs(twice)


def test_numbers_of_a_template_are_free_of_each_other_and_need_no_launch():
    two = KERNEL.replace("__global__", "template <int A, int B> __global__")
    found = knobs(cuda("scale<8, 7><<<N, 256>>>(x, N);", two))
    assert (found["A"].default, found["B"].default) == (8, 7)
    assert "scale<16, 7>" in rendered(cuda("scale<8, 7><<<N, 256>>>(x, N);", two), A=16).text
    host = "template <int ROWS> void rows(float* x) { x[ROWS] = 0; }\n"
    source = Source("k.cpp", f'{host}extern "C" void solve(float* x) {{ rows<8>(x); }}\n')
    assert rendered(source, ROWS=4).text == source.text.replace("<8>", "<4>")


def test_blocks_to_be_resident_are_said_in_launch_bounds():
    kernel = f"constexpr int THREADS = 256;\n{KERNEL}"
    source = cuda("scale<<<N / THREADS, THREADS>>>(x, N);", kernel)
    text = rendered(source, min_blocks=4).text
    assert "__global__ void __launch_bounds__(THREADS, 4) scale(" in text
    assert knobs(Source("k.cu", text))["min_blocks"].default == 4
    bounded = cuda(
        "scale<<<N / THREADS, THREADS>>>(x, N);",
        kernel.replace("void scale", "void __launch_bounds__(THREADS) scale"),
    )
    assert "__launch_bounds__(THREADS, 2) scale(" in rendered(bounded, min_blocks=2).text


def test_a_square_block_is_one_choice_that_keeps_to_its_threads():
    source = cuda("scale<<<N, dim3(16, 16)>>>(x, N);")
    assert "dim3(8, 8)" in rendered(source, block_x=8).text
    found = space(source, DeviceLimits(threads_per_block=512))
    assert "at most 512 threads" in found.is_legal({**found.defaults, "block_x": 32})
    assert "block_y" not in found.defaults


def test_bounds_name_nothing_that_the_kernel_does_not_see():
    inside = "constexpr int T = 64; scale<<<N, T>>>(x, N);"
    assert "min_blocks" not in knobs(cuda(inside))
    behind = cuda("scale<<<N, T>>>(x, N);", f"{KERNEL}constexpr int T = 64;\n")
    assert "min_blocks" not in knobs(behind)


def test_threads_keep_within_the_block_the_bounds_and_the_multiprocessor():
    kernel = KERNEL.replace("void scale", "void __launch_bounds__(512) scale")
    source = cuda("scale<<<N, ROWS * 32>>>(x, N);", f"constexpr int ROWS = 8;\n{kernel}")
    found = space(source)
    assert "fewer threads" in found.is_legal({**found.defaults, "ROWS": 32})
    assert found.is_legal({**found.defaults, "ROWS": 16}) == ""
    blocks = {**found.defaults, "ROWS": 16, "min_blocks": 8}
    assert "at most 2048 threads" in found.is_legal(blocks)
    plain = space(cuda("scale<<<N, R * 64>>>(x, N);", f"constexpr int R = 8;\n{KERNEL}"))
    assert "at most 1024 threads" in plain.is_legal({**plain.defaults, "R": 32})
    free = space_of(source, "cuda", DeviceLimits())
    assert not any("1024" in one.reason for one in free.constraints)


def test_derived_constants_divisions_and_assertions_become_constraints():
    text = """\
constexpr int TILE = 64;
constexpr int SIDE = 4;
constexpr int THREADS = (TILE / SIDE) * (TILE / SIDE);
static_assert(TILE >= 4 * SIDE && SIDE < 16, "small sides");
__global__ void tiles(float* x) {
    __shared__ float a[TILE][TILE + 1];
    a[0][threadIdx.x] = x[0];
}
extern "C" void solve(float* x, int N) { tiles<<<N / TILE, THREADS>>>(x); }
"""
    found = space(Source("k.cu", text))
    at = found.defaults
    assert "at most 1024 threads" in found.is_legal({**at, "TILE": 128, "SIDE": 2})
    assert "shared memory" in found.is_legal({**at, "TILE": 128, "SIDE": 8})
    assert "asserts" in found.is_legal({**at, "SIDE": 16})
    odd = space(
        Source("k.cu", text.replace("SIDE = 4", "SIDE = 2").replace("TILE = 64", "TILE = 6"))
    )
    assert any("without a rest" in one.reason for one in odd.constraints)


def test_a_demand_that_the_source_itself_does_not_meet_is_misread():
    text = "constexpr int A = 6;\nconstexpr int B = 4;\nconstexpr int C = A / B;\n"
    assert space(Source("k.cpp", text)).constraints == ()


def test_a_name_that_stands_for_two_numbers_and_a_quotient_rounded_up_demand_nothing():
    two = "namespace a { constexpr int A = 6; }\nnamespace b { constexpr int A = 4; }\n"
    assert space(Source("k.cpp", f"{two}static_assert(A > 3);")).constraints == ()
    rounded = "constexpr int A = 5;\nconstexpr int B = (A + 3) / 4;\nconstexpr int C = A / 5;\n"
    found = space(Source("k.cpp", rounded))
    assert [one.expression for one in found.constraints] == ["A % 5 == 0"]


def test_constants_that_grow_without_end_are_left_alone():
    doubled = "".join(f"#define A{n} (A{n + 1} + A{n + 1})\n" for n in range(60))
    nested = f"#define DEEP {'-' * 900}A0\n#define LONG {' + '.join(['B'] * 300)}\n"
    asserted = "static_assert(A0 > 0); static_assert(DEEP < 0); static_assert(LONG > 0);"
    text = f"{doubled}#define A60 4\n#define B 8\n{nested}{asserted}"
    found = space(Source("k.cpp", text))
    assert [knob.name for knob in found.knobs] == ["flags", "A60", "B"]
    assert found.constraints == ()


def test_constants_of_a_file_may_be_const_and_may_be_called_flags():
    text = "static const int TILE = 16;\nconst unsigned flags = 4;\n" + KERNEL
    launch = "scale<<<N, dim3(TILE, TILE)>>>(x, N); const int n = 8;"
    source = cuda(launch, text)
    found = knobs(source)
    assert found["TILE"].values == (4, 8, 16, 32)
    assert "n" not in found
    changed = rendered(source, flags_2=8)
    assert (changed.text, changed.flags) == (source.text.replace("flags = 4", "flags = 8"), ())
    assert rendered(source, flags="-O3") == Source("k.cu", source.text, ("-O3",))


def test_a_loop_that_says_how_far_it_is_unrolled_need_not_be_simple():
    text = (
        "void f(float* x) {\n#pragma GCC unroll 4\n  for (int i = 9; i > 0; i /= 2) x[i] = 0;\n}\n"
    )
    assert knobs(Source("k.cpp", text))["unroll_i"].values == (1, 2, 4, 8, 16)


def test_it_keeps_to_so_many_knobs():
    text = (
        "".join(f"constexpr int A{n} = 4;\n" for n in range(40)) + "static_assert(A0 * A39 < 20);"
    )
    found = space(Source("k.cpp", text))
    assert len(found.knobs) == MOST_KNOBS
    assert [one.expression for one in found.constraints] == ["A0 * 4 < 20"]


def test_a_source_that_does_not_parse_has_flags_alone():
    assert [knob.name for knob in space(Source("k.cpp", "void f( {")).knobs] == ["flags"]
