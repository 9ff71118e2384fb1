"""It reads the arguments of `solve` as a C++ programmer writes them."""

from __future__ import annotations

import ctypes

import pytest

from campaigns.evaluator.builds.compile import check_flags
from campaigns.evaluator.contract.errors import BuildFailed
from campaigns.evaluator.contract.layout import Plain, ScalarArg, lay_out
from campaigns.evaluator.contract.signature import argument_types, read_parameters
from campaigns.evaluator.sanitizers.harness import program

POINTER = ctypes.c_void_p


def types_of(text: str, dtype: str = "float32", value: float = 5) -> list[object]:
    """Of `solve` with an input, an output and a number."""
    tensors = [Plain("x", dtype, (5,), output=False), Plain("y", dtype, (5,), output=True)]
    return argument_types(text, "kernel.cpp", lay_out([*tensors, ScalarArg("N", value)]))


@pytest.mark.parametrize(
    "before",
    [
        "",
        "struct A { void solve(int n); };",
        "namespace a { void solve(float* x, int n) {} }",
        '#define API __attribute__((visibility("default")))',
    ],
)
@pytest.mark.parametrize(
    "entry",
    [
        'extern "C" void solve(const float* x, float* y, int N) {}',
        'extern "C" { void solve(const float* x, float* y, int N) {} }',
        'extern "C" void solve(const float x[], float y[], const int N) noexcept {}',
        'extern "C" void solve(const float* __restrict__ x, float* const y, int) {}',
        'extern "C" void solve(const float*, float* y, int N) try {} catch (...) {}',
        'extern "C" auto solve(const float* x, float* y, int N) -> void {}',
        'typedef float real; extern "C" void solve(const real* x, real* y, int N) {}',
        'using real = float; using in = real*;\nextern "C" void solve(in x, real* y, int N) {}',
        '#define REAL float\nextern "C" void solve(const REAL* x, REAL* y, int N) {}',
    ],
)
@pytest.mark.parametrize(
    "behind",
    ["", "void A::solve(int n) {}", "namespace b { void solve(long m, char* x) {} }"],
)
def test_it_finds_the_entry_among_others(before, entry, behind):
    assert types_of(f"{before}\n{entry}\n{behind}\n") == [POINTER, POINTER, ctypes.c_int]


@pytest.mark.parametrize(
    ("dtype", "written"),
    [
        ("int64", "std::int64_t"),
        ("int64", "long long int"),
        ("int64", "unsigned long"),
        ("int32", "::std::uint32_t"),
        ("int16", "short int"),
        ("int8", "signed char"),
        ("uint8", "char"),
        ("bool", "uint8_t"),
        ("bfloat16", "std::uint16_t"),
        ("float16", "unsigned short"),
        ("float64", "double"),
        ("float32", "void"),
    ],
)
def test_it_takes_elements_by_any_of_their_names(dtype, written):
    text = f'extern "C" void solve(const {written}* x, {written}* y, int N) {{}}'
    assert types_of(text, dtype) == [POINTER, POINTER, ctypes.c_int]


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("std::size_t", ctypes.c_size_t),
        ("long int", ctypes.c_long),
        ("int unsigned", ctypes.c_uint),
        ("std::ptrdiff_t", ctypes.c_ssize_t),
        ("bool", ctypes.c_bool),
    ],
)
def test_it_takes_numbers_by_any_of_their_names(written, kind):
    text = f'extern "C" void solve(const float* x, float* y, {written} N) {{}}'
    assert types_of(text, value=1)[-1] is kind


def test_it_says_what_does_not_fit():
    text = 'using real = double;\nextern "C" void solve(const real* x, float* y, int N) {}'
    with pytest.raises(BuildFailed, match=r"kernel.cpp:2: .* 'x' is double\*, .* float\* x"):
        types_of(text)
    text = 'extern "C" void solve(const float* x, float* y, int N) {}'
    with pytest.raises(BuildFailed, match="'N' is int, the cases give int N = 8589934592"):
        types_of(text, value=1 << 33)


def test_an_alias_of_itself_comes_to_an_end():
    text = 'typedef struct a a;\nextern "C" void solve(a* x) {}'
    assert [each.pointer for each in read_parameters(text, "kernel.cpp")] == [True]


@pytest.mark.parametrize("written", ["bool", "short", "std::uint16_t", "unsigned long long"])
def test_the_sanitizers_know_every_type_of_a_number(written):
    tensors = [Plain("y", "float32", (5,), output=True), ScalarArg("N", 1)]
    text = f'extern "C" void solve(float* y, {written} N) {{}}'
    layout = lay_out(list(tensors))
    types = argument_types(text, "kernel.cpp", layout)
    assert 'extern "C" void solve(void*, ' in program(layout, types, on_gpu=False)


@pytest.mark.parametrize(
    "flag", ["-pthread", "-lm", "-g", "-use_fast_math", "--expt-relaxed-constexpr"]
)
def test_flags_that_name_no_file_are_accepted(flag):
    check_flags((flag,))


@pytest.mark.parametrize("flag", ["-ftracer", "-fmodulo-sched", "-flto", "-fno-trapping-math"])
def test_flags_that_tune_are_accepted(flag):
    check_flags((flag,))


@pytest.mark.parametrize(
    "flag",
    [
        *(
            "-fplugin=x",
            "-fpass-plugin=x",
            "-fmodule-mapper=x",
            "-fauto-profile=x",
            "-fself-test=x",
        ),
        *("-fno-sanitize=all", "-fasan-shadow-offset=0", "-fopt-info-all=x", "-ftime-trace=x"),
        *("-mllvm", "-fsyntax-only", "-fatbin", "-forward-unknown-to-host-compiler", "@x"),
        *("-specs=x", "-B.", "-wrapper", "-Xcompiler=-fplugin=x", "-Wl,-rpath,x", "-O3\n-B."),
    ],
)
def test_flags_that_name_a_file_or_stop_a_check_are_not(flag):
    with pytest.raises(BuildFailed, match="is not accepted"):
        check_flags((flag,))


@pytest.mark.parametrize("flag", ["-lcublas", "-L/tmp", "-pthread=x", "-gsplit-dwarf", "-g4"])
def test_flags_that_bring_something_else_are_not(flag):
    with pytest.raises(BuildFailed, match="is not accepted"):
        check_flags((flag,))
