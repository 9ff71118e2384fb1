"""C++ and CUDA files without a `solve`, as most are."""

import tomllib

import pytest

from campaigns.devices.launch import EvaluatorService
from campaigns.evaluator.contract import Outcome, Source
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.problems.import_.draft import DraftError, Given, Role
from campaigns.problems.import_.propose import propose
from campaigns.problems.import_.write import written
from campaigns.steps.problems import written_files
from campaigns.steps.propose_problem import propose_problem
from tests.campaigns.problems.import_.sources import ADD_BIAS
from tests.evaluator import small

KERNEL = """
__global__ void add(const float* x, const float* b, float* y, int n, int c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n * c) y[i] = x[i] + b[i % c];
}
"""
LAUNCHER = """
void add_rows(float* y, const float* x, const float* b, int n, int c, const int block) {
  add<<<(n * c + block - 1) / block, block>>>(x, b, y, n, c);
}
int main() { return 0; }
"""
FIXED = """
extern "C" void add_all(float *x, float *b, float *y) {
  for (int i = 0; i < 32 * 48; ++i) y[i] = x[i] + b[i % 48];
}
"""
CALL = "n, c = 32, 48; add_bias(torch.randn(n, c), torch.randn(c))"


@pytest.fixture(scope="module")
def service():
    with EvaluatorService() as running:
        yield running


def proposed(kernel, file_name="add.cu", call=CALL, **more):
    return propose(Given(file_name, kernel, "ref.py", ADD_BIAS, calls=(call,), **more))


def test_the_only_host_function_with_pointers_and_numbers_is_called_by_a_solve():
    draft = proposed(KERNEL + LAUNCHER, call=CALL.replace("randn(c))", "randn(c), block=256)"))
    text = draft.kernels["cuda"][1]
    assert text.startswith(f"\n// line 2 of add.cu{KERNEL}")
    assert 'extern "C" void solve(float* y, const float* x, const float* b, int n' in text
    assert "add_rows(y, x, b, n, c, block);" in text
    roles = {arg.name: arg.role for arg in draft.args}
    assert (roles["y"], roles["x"], roles["block"]) == (Role.OUTPUT, Role.INPUT, Role.NUMBER)
    assert "add_rows is called by a solve that is added at the end." in draft.assumed


def test_a_kernel_without_a_launcher_takes_a_launch_as_its_entry():
    draft = proposed(KERNEL, entry="add<<<(n * c + 255) / 256, 256>>>")
    assert "add<<<(n * c + 255) / 256, 256>>>(x, b, y, n, c);" in draft.kernels["cuda"][1]


def test_without_a_launch_it_is_said_what_one_looks_like():
    with pytest.raises(DraftError) as refused:
        proposed(KERNEL)
    assert refused.value.field == "entry"
    assert 'a launch of add(x, b, y, n, c), such as "add<<<(n + 255) / 256, 256>>>"' in str(
        refused.value
    )


@pytest.mark.parametrize("outputs", [(), ("y",)])
def test_a_pointer_without_const_is_an_input_where_the_reference_only_takes_it(outputs):
    call = "add_bias(torch.randn(32, 48), torch.randn(48))"
    draft = proposed(FIXED, "add.cpp", call, outputs=outputs)
    assert [arg.role for arg in draft.args] == [Role.INPUT, Role.INPUT, Role.OUTPUT]
    said = "x is an input: the reference does not change it."
    assert (said in draft.assumed) is not bool(outputs)


def test_of_pointers_without_const_the_one_that_is_assigned_to_is_the_output():
    kernel = """
void flip(float* odata, float* idata, int n) {
  for (int i = 0; i < n; i++) { odata[i] = idata[n - 1 - i]; }
}
"""
    reference = "def right(x):\n    return x.flip(0).contiguous()\n"
    calls = ("right(torch.randn(64))",)
    draft = propose(Given("flip.cpp", kernel, "r.py", reference, calls=calls))
    assert [arg.role for arg in draft.args[:2]] == [Role.OUTPUT, Role.INPUT]
    hidden = kernel.replace("odata[i] =", "*(odata + i) =")
    with pytest.raises(DraftError, match=r"which of these does a call write.*odata, idata"):
        propose(Given("flip.cpp", hidden, "r.py", reference, calls=calls))
    draft = propose(Given("flip.cpp", hidden, "r.py", reference, calls=calls, outputs=("odata",)))
    assert [arg.role for arg in draft.args[:2]] == [Role.OUTPUT, Role.INPUT]


def test_what_writes_is_asked_where_neither_file_tells():
    call = "add_bias(torch.randn(32, 48), torch.randn(48))"
    more = FIXED.replace("float *y)", "float *y, float *z)")
    with pytest.raises(DraftError, match=r"which of these does a call write.*x, b, y, z"):
        proposed(more, "add.cpp", call)


AXPY = """
void axpy(int n, float a, const float *x, float *y) {
  for (int i = 0; i < n; i++) y[i] += a * x[i];
}
"""
AXPY_CALL = "n = 4096; axpy(n, 0.5, torch.randn(n), torch.randn(n))"


@pytest.mark.parametrize(
    "reference",
    [
        "def axpy(n, a, x, y):\n    y.add_(a * x)\n",
        "def axpy(n, a, x, y):\n    return y + a * x\n",
        "def right(count, factor, values, sums):\n    sums += factor * values\n",
    ],
)
@pytest.mark.parametrize(("file_name", "entry"), [("axpy.cpp", ""), ("axpy.cu", "axpy<<<1, 1>>>")])
def test_a_pointer_that_the_reference_takes_too_is_updated_in_place(reference, file_name, entry):
    kernel = AXPY.replace("void", "__global__ void") if entry else AXPY
    given = Given(file_name, kernel, "r.py", reference, calls=(AXPY_CALL,), entry=entry)
    problem = propose_problem(propose(given))
    arguments = {arg["name"]: arg["role"] for arg in problem.read["arguments"]}
    assert (arguments["x"], arguments["y"]) == ("input", "output, updated in place")
    assert [arg.value for arg in problem.draft.args if arg.role is Role.NUMBER] == ["n", 0.5]


def test_the_only_pointer_may_be_updated():
    kernel = "void scale(float* x, int n, float f) { for (int i = 0; i < n; i++) x[i] *= f; }"
    reference = "def scale(x, n, f):\n    x.mul_(f)\n"
    # n is named before the call, which lacks it.
    call = "n = 4096; scale(torch.randn(n), 0.5)"
    draft = propose(Given("s.cpp", kernel, "r.py", reference, calls=(call,), outputs=("x",)))
    assert [arg.role for arg in draft.args] == [Role.IN_PLACE, Role.NUMBER, Role.NUMBER]
    assert [arg.value for arg in draft.args[1:]] == ["n", 0.5]


TOTAL = """
void total(const float* a, float* y, int rows, int cols, int block) {
  for (int r = 0; r < rows; r++)
    for (int c = y[r] = 0; c < cols; c++) y[r] += a[r * cols + c];
}
"""
SUM = "def total(x):\n    return x.sum(1)\n"


def summed(call, kernel=TOTAL, reference=SUM):
    return propose(Given("total.cpp", kernel, "r.py", reference, calls=call))


def test_a_number_that_only_the_kernel_has_is_named_before_the_call():
    with pytest.raises(DraftError) as told:
        summed(("total(torch.randn(32, 64))",))
    assert "block: no call gives it; accepted: a number of that name before the call, as in " in (
        told.value.message
    )
    # As it is advised; an equal size is another thing.
    draft = summed(("block = 64; total(torch.randn(32, 64))",))
    assert [arg.value for arg in draft.args[2:]] == ["rows", "cols", 64]
    assert draft.cases == {"32x64": {"rows": 32, "cols": 64}}


def test_one_that_differs_between_calls_is_of_the_case_and_stays():
    draft = summed(tuple(f"block = {n}; total(torch.randn(32, 64))" for n in (16, 32)))
    assert list(draft.cases.values())[1] == {"rows": 32, "cols": 64, "block": 32}
    assert tomllib.loads(written(draft)["problem.toml"])["check"]["free"] == ["rows", "cols"]


RELU = """
void relu(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}
"""


@pytest.mark.parametrize(
    ("kernel", "call", "number"),
    [
        (RELU, "relu(torch.randn(96, 48))", "D * K"),
        (RELU, "relu(torch.randn(96))", "n"),
        (RELU, "n = 96; relu(torch.randn(n, 48))", "n"),
        # A source that has the width built in is told how many rows there are.
        (RELU.replace("i < n", "i < 48 * n"), "relu(torch.randn(96, 48))", "n"),
        (RELU.replace("int n", "int rows").replace("< n", "< rows"), "relu(torch.randn(96, 48))",
         "rows"),
    ],
)  # fmt: skip
def test_the_only_number_of_a_flat_kernel_counts_all_elements(kernel, call, number):
    reference = "import torch\n\n\ndef relu(x):\n    return torch.relu(x)\n"
    draft = propose(Given("relu.cpp", kernel, "ref.py", reference, calls=(call,)))
    assert next(arg.value for arg in draft.args if arg.role is Role.NUMBER) == number
    said = [words for words in draft.assumed if "is how many elements x has" in words]
    assert len(said) == (number == "D * K")


def test_what_the_kernel_calls_otherwise_is_taken_by_kind_and_order():
    kernel = TOTAL.replace("int block", "float factor, int lambda")
    reference = "def total(x, scale, power):\n    return scale * x.sum(1)\n"
    draft = summed(("total(torch.randn(32, 64), 0.5, 2)",), kernel, reference)
    assert [(arg.name, arg.value) for arg in draft.args[4:]] == [("factor", 0.5), ("lambda_", 2)]
    assert "_right(a, factor, lambda_)" in written(draft)["ref.py"]


@pytest.mark.parametrize(
    ("call", "handed"),
    [
        ("n = 32; total(torch.randn(n, 64), True, 1)", "_right(a, True, 1)"),
        ("n, c = 32, 64; total(torch.randn(n, c), keep=c)", "_right(a, keep=c)"),
        ("n = 32; total(torch.randn(n, 64), kind=torch.float64)", "_right(a, kind=torch.float64)"),
    ],
)
def test_what_the_kernel_lacks_is_given_to_the_reference_alone(call, handed):
    reference = (
        "import torch\n\n\ndef total(x, axis=1, keep=False, width=None, kind=None):\n"
        "    return x.sum(1)\n"
    )
    kernel = TOTAL.replace("int rows, int cols, int block", "int n").replace("r < rows", "r < n")
    problem = propose_problem(summed((call,), kernel.replace("cols", "64"), reference))
    assert handed in problem.files["ref.py"]


@pytest.mark.parametrize("name", ["in", "lambda", "from", "seed"])
def test_a_name_that_is_a_word_of_python_is_another_one_there(name):
    kernel = (
        TOTAL.replace("* a", f"* {name}").replace("a[r", f"{name}[r").replace(", int block", "")
    )
    problem = propose_problem(summed(("total(torch.randn(32, 64))",), kernel))
    assert next(arg["name"] for arg in problem.read["arguments"]) == f"{name}_"


def test_sizes_that_are_built_into_a_kernel_are_not_moved():
    call = "add_bias(torch.randn(32, 48), torch.randn(48))"
    fixed = proposed(FIXED, "add.cpp", call, outputs=("y",))
    assert tomllib.loads(written(fixed)["problem.toml"])["check"] == {"free": []}
    told = proposed(KERNEL, entry="add<<<(n * c + 255) / 256, 256>>>")
    assert "check" not in tomllib.loads(written(told)["problem.toml"])


def test_a_problem_is_called_after_the_one_of_several_functions_that_is_asked_for():
    draft = proposed(KERNEL + LAUNCHER, call=f"block = 256; {CALL}", entry="add_rows")
    assert (draft.name, draft.title) == ("add_rows", "Add rows")
    only = proposed(KERNEL, file_name="bias.cu", entry="add<<<n, 256>>>")
    assert (only.name, only.title) == ("bias", "Bias")


def test_an_unknown_function_is_answered_with_those_that_there_are():
    with pytest.raises(DraftError, match="defines: add, add_rows, main"):
        proposed(KERNEL + LAUNCHER, entry="other")


def test_unsigned_char_is_uint8():
    kernel = KERNEL.replace("float", "unsigned char")
    call = "add_bias(torch.randint(0, 9, (32, 48)), torch.randint(0, 9, (48,)))"
    named = call.replace("32", "n").replace("48", "c")
    draft = proposed(kernel, call=f"n, c = 32, 48; {named}", entry="add<<<n, 256>>>")
    assert {arg.dtype for arg in draft.args if arg.role is not Role.NUMBER} == {"uint8"}


TEMPLATE = """
#include <helper_timer.h>
#include <cublas_v2.h>
#include <cstdio>
#define TILE 32
#define RUNS 100
const char *sample = "scale";
template <typename T, int STEP = 1> void scale(T* x, const void* y, int n, T f) {
  for (int i = 0; i < n; i += STEP) x[i] = f * ((const T*)y)[i] + TILE;
}
// How long it takes.
#if defined(__GNUC__)
__attribute__((optimize("no-finite-math-only")))
#endif
void report(StopWatch* watch) { printf("%s %f %d", sample, sdkGetTimerValue(&watch), RUNS); }
#ifndef TESTED
int main() { report(nullptr); }
#endif
"""
SCALE = "def scale(y, f):\n    return f * y + 32\n"
SCALE_CALL = "n = 64; scale(torch.randn(n), 2.0)"


def scaled(kernel, entry="scale<float>", file_name="scale.cpp"):
    given = Given(file_name, kernel, "r.py", SCALE, calls=(SCALE_CALL,), entry=entry)
    return propose_problem(propose(given))


def test_what_only_main_needs_is_left_out_and_a_template_is_called_as_it_is_asked():
    problem = scaled(TEMPLATE)
    text = problem.files["v0.cpp"]
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "#include <cstdio>",
        "#define TILE 32",
    ]
    assert "main" not in text
    assert "scale<float>(x, y, n, f);" in text
    assert "<helper_timer.h>, <cublas_v2.h>: left out, with main." in problem.draft.assumed
    left_out = "solve does not need main, report, sample, RUNS: left out."
    assert left_out in problem.draft.assumed
    # A sum of many products is large, and where it comes out near 0 its rounding still is.
    assert "x is about 30: atol is as many times larger." in problem.draft.assumed
    assert "[tolerance.outputs.x]\natol = 0.0003\n" in problem.files["problem.toml"]
    # A void* has the dtype of what the reference is given.
    assert [arg.dtype for arg in problem.draft.args[:2]] == ["float32", "float32"]


def test_a_launcher_may_have_its_kernels_name_and_a_dtype_be_chosen_by_a_define():
    kernel = KERNEL.replace("float", "real").replace("int n, int c)", "int n)").replace(" * c", "")
    kinds = (
        "#define SHORT\n#if defined(SHORT)\ntypedef half real;\n#else\ntypedef float real;\n#endif"
    )
    launcher = """
void add(const real* x, const real* b, real* y, int n, int c, int block) {
  add<<<(n * c + block - 1) / block, block>>>(x, b, y, n * c);
}
"""
    call = f"block = 256; {CALL}"
    draft = proposed(kinds + kernel.replace("% c", "% 48") + launcher, call=call)
    assert "  add(x, b, y, n, c, block);" in draft.kernels["cuda"][1]
    assert [arg.dtype for arg in draft.args[:3]] == ["float16"] * 3
    draft = proposed(kinds + kernel + launcher, entry="add<<<1, 256>>>")
    assert "  add<<<1, 256>>>(x, b, y, n);" in draft.kernels["cuda"][1]


def test_a_template_is_asked_what_its_parameters_are():
    with pytest.raises(DraftError) as told:
        scaled(TEMPLATE, "scale")
    assert str(told.value) == (
        'entry: scale is a template of T, STEP; accepted: what they are, as in "scale<float>"'
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("= f *", "= g *", r"scale.cpp:9:\d+: error: .g. was not declared in this scope.*: for \("),
        ("int main", "int other", "scale.cpp:2:10: fatal error: helper_timer.h: No such file"),
        ("T* x", "T** x", "scale.cpp:8: x: float\\*\\*; accepted: double"),
        ("int n", "Shape n", "scale.cpp:8: n: Shape; accepted: int"),
        (
            "T* x",
            "T TWO(x, N)",
            r"scale.cpp:8: TWO\(x, N\): is it a macro\? accepted: parameters as",
        ),
    ],
)
def test_what_does_not_compile_is_said_before_anything_is_kept(old, new, said):
    with pytest.raises(DraftError, match=said) as told:
        scaled(TEMPLATE.replace(old, new, 1))
    assert told.value.field == "kernel"


ROWS = """
#define ROWS 20
#define COLS 24
void sums(int rows, int cols, const double A[ROWS][COLS], double (*restrict B)[COLS],
          double y[ROWS]) {
  for (int i = 0; i < ROWS; i++)
    for (int j = y[i] = 0; j < COLS; j++) { y[i] += A[i][j]; B[i][j] += A[i][j]; }
}
"""


@pytest.mark.sentinel
def test_arrays_of_two_dimensions_are_cast_and_their_sizes_stay(service, tmp_path):
    reference = "def sums(A, B):\n    B += A\n    return A.sum(1)\n"
    matrix = "torch.randn(rows, cols, dtype=torch.float64)"
    call = f"rows, cols = 20, 24; sums({matrix}, {matrix})"
    problem = propose_problem(propose(Given("s.c", ROWS, "r.py", reference, calls=(call,))))
    text = problem.files["v0.cpp"]
    assert "reinterpret_cast<const double (*)[COLS]>(A), reinterpret_cast<double (*)[COLS]>" in text
    assert [arg["role"] for arg in problem.read["arguments"]][2:] == [
        "input",
        "output, updated in place",
        "output",
    ]
    folder = written_files(problem.files, tmp_path)
    case = load_problem(folder).cases[0].case
    job = small.job(folder, tmp_path, Source("v0.cpp", text), timed=False, cases=(case,))
    report = service.evaluate(job)
    assert report.outcome is Outcome.PASSED, report.reason


def test_sizes_that_a_kernel_is_not_told_stay():
    kernel = TOTAL.replace("int cols, int block", "int n").replace("cols", "64")
    draft = summed(("n = 2; total(torch.randn(32, 64))",), kernel)
    assert tomllib.loads(written(draft)["problem.toml"])["check"]["free"] == ["rows"]
