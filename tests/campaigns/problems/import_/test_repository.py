"""Kernels as they lie in a repository: autograd functions, helpers beside them, many launchers."""

import re
from dataclasses import replace

import pytest

from campaigns.evaluator.contract.origins import origin_of
from campaigns.problems.import_.bundle import bundled
from campaigns.problems.import_.draft import ADDED, DraftError, Given, Role
from campaigns.problems.import_.entries import adapted
from campaigns.problems.import_.propose import propose
from campaigns.problems.import_.write import written
from campaigns.steps.propose_problem import propose_problem
from tests.campaigns.problems.import_.sources import TRITON

FUNCTION = (
    TRITON.split("def scaled_ref")[0]
    + """
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias=None, mode="plain", factor=2.0):
        return scaled(x, weight, bias, factor)

    @staticmethod
    def backward(ctx, dy):
        return scaled_back(dy), None, None, None, None


def scaled_back(dy):
    scale_rows[(1,)](dy, dy, dy, 1, BLOCK=1)
    return dy


scale = Scale.apply
"""
)
REFERENCE = (
    "import torch\n\n\ndef half(x):\n    return x / 2\n\n\n"
    "def scale_right(x, weight):\n    return x * weight\n"
)
CALL = "scale_right(torch.randn(8, 16), torch.randn(16))"


def proposed(call, kernel=FUNCTION, **more):
    return propose(Given("scale.py", kernel, "ref.py", REFERENCE, calls=(call,), **more))


def added(draft):
    return draft.kernels["triton"][1].split("def run_kernel")[1]


def test_the_only_autograd_function_is_called_by_position():
    assert "Scale.apply(x, weight)" in added(proposed(CALL, function="scale_right"))


def test_of_several_references_the_one_that_the_example_calls_is_taken():
    assert proposed(CALL).reference.name == "scale_right"


def test_a_name_for_an_autograd_function_stands_for_it():
    draft = proposed(
        "scale(torch.randn(8, 16), torch.randn(16))", entry="scale", function="scale_right"
    )
    assert "Scale.apply(x, weight)" in added(draft)


def test_of_several_launchers_the_one_that_the_example_calls_is_taken():
    kernel = FUNCTION.replace("torch.autograd.Function", "object")
    call = "scaled(torch.randn(8, 16), torch.randn(16))"
    draft = proposed(call, kernel, function="scale_right")
    assert "scaled(x=x, weight=weight)" in added(draft)
    with pytest.raises(DraftError, match="accepted: scaled, scaled_back"):
        proposed(CALL, kernel)


def test_a_text_is_the_same_in_every_call_and_a_default_before_it_is_given():
    call = "Scale.apply(torch.randn(8, 16), torch.randn(16), None, 'llama', 3.0)"
    draft = proposed(call, function="scale_right")
    assert "Scale.apply(x, weight, None, 'llama', factor)" in added(draft)
    assert "mode is always 'llama'." in draft.assumed
    assert "mode" not in written(draft)["ref.py"]


def test_a_fixed_argument_reaches_a_reference_that_takes_it():
    reference = "import torch\n\n\ndef cast(x, kind):\n    return x.to(kind)\n"
    kernel = TRITON.split("def scaled(")[0] + (
        "def cast(x, kind):\n    y = x.to(kind)\n    scale_rows[(1,)](x, x, y, 1, BLOCK=1)\n"
        "    return y\n"
    )
    call = "cast(torch.randn(8, 16), torch.float16)"
    draft = propose(Given("cast.py", kernel, "ref.py", reference, calls=(call,)))
    assert "cast(x=x, kind=torch.float16)" in added(draft)
    assert "_right(x=x, kind=torch.float16)" in written(draft)["ref.py"]


def test_the_function_that_the_example_calls_goes_before_the_only_launcher():
    kernel = FUNCTION.replace("scale_rows[(1,)](dy, dy, dy, 1, BLOCK=1)", "dy = dy")
    assert "Scale.apply(x, weight)" in added(
        proposed("scale(torch.randn(8, 16), torch.randn(16))", kernel, function="scale_right")
    )


def test_arguments_of_an_alias_are_those_of_its_function_though_the_reference_has_its_name():
    reference = "def scale(x, weight):\n    return x * weight\n"
    call = "scale(torch.randn(8, 16), torch.randn(16), None, 'llama', 3.0)"
    draft = propose(Given("scale.py", FUNCTION, "ref.py", reference, calls=(call,), entry="Scale"))
    assert "Scale.apply(x, weight, None, 'llama', factor)" in added(draft)


def test_a_default_that_is_no_plain_constant_is_given_as_it_is_written():
    kernel = FUNCTION.replace("bias=None, mode", "bias, skip=-100, kind=torch.int8, mode", 1)
    call = "Scale.apply(torch.randn(8, 16), torch.randn(16), None, mode='llama')"
    draft = proposed(call, kernel, function="scale_right")
    assert "Scale.apply(x, weight, None, -100, torch.int8, 'llama')" in added(draft)


def test_what_a_kernel_returns_beside_what_its_reference_does_is_not_compared():
    kernel = FUNCTION.replace("return scaled(x, weight, bias, factor)", "return both(x)")
    kernel += "\n\ndef both(x):\n    return x, None, x.shape\n"
    draft = proposed(CALL, kernel, function="scale_right")
    assert "answers = Scale.apply(x, weight)\n    return answers[0]" in added(draft)
    assert "Scale returns 3, its reference 1: the first count." in draft.assumed


def test_an_argument_that_is_updated_is_judged_instead_of_what_is_returned():
    draft = proposed(CALL, function="scale_right", outputs=("x",))
    assert added(draft).splitlines()[1].strip() == "Scale.apply(x, weight)"
    ref = written(draft)["ref.py"]
    assert '"outputs": ["x"]' in ref
    assert '"x": torch.randn((N, D,)' in ref


def test_of_several_references_the_one_that_calls_the_others_is_taken():
    reference = "def half(x):\n    return x / 2\n\n\ndef right(x, weight):\n    return half(x)\n"
    call = "Scale.apply(torch.randn(8, 16), torch.randn(16))"
    assert propose(Given("s.py", FUNCTION, "r.py", reference, calls=(call,))).reference.name == (
        "right"
    )


def test_another_version_of_the_file_is_given_what_was_added_to_the_first(tmp_path):
    call = "scaled(torch.randn(8, 16), torch.randn(16))"
    first = proposed(call, entry="scaled", function="scale_right").kernels["triton"][1]
    other = FUNCTION.replace("BLOCK=block", "BLOCK=2 * block") + "\nprint('run')\n"
    whole = adapted("scale.py", other, first, tmp_path / "scale.py")
    assert "BLOCK=2 * block" in whole
    assert "print" not in whole
    assert whole.endswith(first[first.index(f"# {ADDED}") :])
    for text in ("def run_kernel(x): ...\n", "def other(x): ...\n", "def ( {"):
        assert adapted("scale.py", text, first, tmp_path / "scale.py") == text
    assert adapted("scale.py", other, other) == other


def put(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)


def in_package(tmp_path, line):
    """A kernel that takes its block from a helper of its own package, and that whole."""
    ops = tmp_path / "pack" / "ops"
    ops.mkdir(parents=True)
    kernel = FUNCTION.replace(
        "import triton.language as tl\n", f"import triton.language as tl\n{line}\n", 1
    )
    kernel = kernel.replace("triton.next_power_of_2(x.shape[1])", "block_of(x.shape[1])")
    put(
        ops,
        scale=kernel,
        sizes="import missing_package\nfrom ..base import ROUND\n\n\n"
        "def block_of(n):\n    return ROUND(n)\n\n\ndef other():\n    missing_package.run()\n",
    )
    put(tmp_path / "pack", base="import triton\n\nROUND = triton.next_power_of_2\n")
    return kernel, ops / "scale.py"


@pytest.mark.parametrize(
    "line", ["from .sizes import block_of", "from pack.ops.sizes import block_of"]
)
def test_what_a_kernel_takes_of_its_own_package_is_put_into_its_file(tmp_path, line):
    kernel, path = in_package(tmp_path, line)
    text = proposed(CALL, kernel, path=path).kernels["triton"][1]
    assert "def block_of(n):\n    return ROUND(n)" in text
    assert "ROUND = triton.next_power_of_2" in text
    assert "missing_package" not in text
    compile(text, "v0.py", "exec")


def test_what_only_other_functions_of_the_file_import_is_left_out(tmp_path):
    """A local name is none of the module's, though another file may give it a meaning."""
    kernel, path = in_package(tmp_path, "from .sizes import block_of\nfrom .heavy import y, log")
    put(path.parent, heavy="import missing_package\n\ny = missing_package.y\nlog = print\n")
    text = proposed(CALL, kernel + "\n\ndef other():\n    log(y)\n", path=path)
    assert "missing_package" not in text.kernels["triton"][1]


def test_an_import_of_everything_gives_what_the_kernel_reads(tmp_path):
    kernel, path = in_package(tmp_path, "from .sizes import *")
    draft = proposed(CALL, kernel, path=path)
    text = draft.kernels["triton"][1]
    assert "def block_of(n):" in text
    assert "def other" not in text
    assert "What Scale needs of its package is in one file, without the rest." in draft.assumed


def test_an_import_that_cannot_be_followed_is_refused_with_what_to_do(tmp_path):
    kernel, _ = in_package(tmp_path, "from .sizes import block_of")
    with pytest.raises(DraftError, match=r"needs block_of of \.sizes, which is not installed"):
        proposed(CALL, kernel)


def test_an_import_that_the_kernel_does_not_need_is_left_out():
    kernel = FUNCTION + "\nimport missing_package\n\n\ndef bench():\n    missing_package.run()\n"
    draft = proposed(CALL, kernel)
    assert "missing_package" not in draft.kernels["triton"][1]
    assert any("does not need is left out" in words for words in draft.assumed)


def test_what_is_defined_in_one_case_or_another_is_kept_whole():
    kernel = FUNCTION.replace("block = triton.next_power_of_2", "block = rounded") + (
        "\nif hasattr(triton, 'next_power_of_2'):\n    rounded = triton.next_power_of_2\n"
        "else:\n    rounded = int\n\nprint('imported')\n"
    )
    text = proposed(CALL, kernel).kernels["triton"][1]
    assert "else:\n    rounded = int" in text
    assert "print(" not in text


def test_included_files_beside_a_kernel_are_put_in_once(tmp_path):
    (tmp_path / "a.h").write_text('#pragma once\n#include "b.h"\nint a();\n')
    (tmp_path / "b.h").write_text("int b();\n")
    text = bundled(tmp_path / "k.cu", '#include "a.h"\n#include "b.h"\n#include <math.h>\n')
    assert (text.count("int a();"), text.count("int b();")) == (1, 1)
    assert "#include <math.h>" in text


def test_a_bound_of_integers_that_is_a_size_moves_with_it():
    call = "scale_right(torch.randn(8, 512), torch.randint(0, 512, (8,)))"
    assert "torch.randint(0, D, (N,)" in written(proposed(call))["ref.py"]
    few = "scale_right(torch.randn(8, 512), torch.randint(0, 8, (8,)))"
    assert "torch.randint(0, 8, (N,)" in written(proposed(few))["ref.py"]


def test_what_a_package_hands_on_with_everything_else_is_found(tmp_path):
    kernel, path = in_package(tmp_path, "from . import_all import block_of")
    (path.parent / "import_all").mkdir()
    put(path.parent / "import_all", __init__="from ..sizes import *\n")
    kernel = kernel.replace("from . import_all", "from .import_all")
    assert "def block_of(n):" in proposed(CALL, kernel, path=path).kernels["triton"][1]


def test_a_name_that_a_package_makes_when_it_is_asked_for_is_refused(tmp_path):
    kernel, path = in_package(tmp_path, "from .sizes import block_of")
    lazy = "block_of: object\n\n\ndef __getattr__(name):\n    return int\n"
    put(path.parent, sizes=lazy)
    with pytest.raises(DraftError, match=r"sizes\.py gives block_of as no function, class or"):
        proposed(CALL, kernel, path=path)


def test_what_two_files_share_is_put_in_once(tmp_path):
    kernel, path = in_package(tmp_path, "from .one import block_of\nfrom .two import other")
    for name in ("one", "two"):
        put(path.parent, **{name: "from .sizes import block_of\n\nother = block_of\n"})
    kernel = kernel.replace("y = torch.empty_like(x)", "y = torch.empty_like(other(x))")
    text = proposed(CALL, kernel, path=path).kernels["triton"][1]
    assert text.count("def block_of(n):") == 1


def test_a_module_that_torch_does_not_load_itself_is_imported():
    kernel = FUNCTION.replace(
        "y = torch.empty_like(x)", "y = torch.distributed.tensor.zeros(x.shape)"
    )
    text = proposed(CALL, kernel).kernels["triton"][1]
    assert "\nimport torch.distributed.tensor\n" in text


def test_annotations_are_read_as_the_packages_files_read_them(tmp_path):
    kernel, path = in_package(tmp_path, "from .sizes import block_of")
    future = "from __future__ import annotations\n"
    text = (path.parent / "sizes.py").read_text()
    own = "class Rounding:\n    last: Rounding\n\n\ndef block_of(n):\n    Rounding()\n"
    put(path.parent, sizes=f"{future}{text.replace('def block_of(n):', own[:-1])}")
    text = proposed(CALL, kernel, path=path).kernels["triton"][1]
    assert text.startswith(f"# line 1 of scale.py\n{future}")
    assert text.count(future) == 1
    compile(text, "v0.py", "exec")


def test_a_module_that_is_imported_as_a_whole_is_refused_with_what_to_do(tmp_path):
    kernel, path = in_package(tmp_path, "from ..ops import sizes")
    put(path.parent, __init__="")
    kernel = kernel.replace("block_of(", "sizes.block_of(")
    with pytest.raises(DraftError, match=r"ops\.sizes is imported as a whole; accepted"):
        proposed(CALL, kernel, path=path)


KERNEL_ABOVE = """#include <cstdio>
#include <scale.h>
#include "../sizes.h"

// What the sample shows.
static void show(float *x) { printf("%f", helper(x[0])); }

void scaled(TYPE ROWS_OF(x, n), TYPE *y, int n) {
  for (int i = 0; i < n; i++)
    y[i] = FACTOR * x[i] + LAST;
}

int main() { show(nullptr); }
"""
HEADERS = {
    "common/scale.h": """/* Whose it is. */
#ifndef SCALE_H
#define SCALE_H
#ifdef WITH_NOTHING
#define ROWS_OF(x, n) x[n][n]
#else
#define ROWS_OF(x, n) const ROW(x)
#endif
#define ROW(x) *x
// Only for samples.
struct Timer { void start(); };
inline void Timer::start() {}
inline float helper(float x) { return x; }
#endif
""",
    "sizes.h": "#define TYPE float\n#define FACTOR 2\n",
}


def in_repository(tmp_path, kernel=KERNEL_ABOVE, file_name="scaled.cpp"):
    (tmp_path / ".git").mkdir()
    for name, text in {**HEADERS, f"samples/{file_name}": kernel}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    call = "n = 64; scaled(torch.randn(n))"
    reference = "def scaled(x):\n    return 2 * x\n"
    path = tmp_path / "samples" / file_name
    return Given(file_name, kernel, "r.py", reference, calls=(call,), entry="scaled", path=path)


def test_headers_in_other_folders_of_a_repository_and_macros_of_parameters_are_read(tmp_path):
    draft = propose(in_repository(tmp_path, KERNEL_ABOVE.replace(" + LAST", "")))
    text = draft.kernels["cpp"][1]
    assert [(arg.name, arg.dtype, arg.role) for arg in draft.args[:2]] == [
        ("x", "float32", Role.INPUT),
        ("y", "float32", Role.OUTPUT),
    ]
    assert "const ROW(x)" in text
    assert not {"main", "helper", "Timer", "Only for samples"} & {*re.findall(r"\w[\w ]*\w", text)}
    assert (
        "What is needed of ../common/scale.h, ../sizes.h is put into scaled.cpp." in draft.assumed
    )
    assert draft.name == "scaled"


def test_errors_name_the_line_of_the_file_that_was_brought(tmp_path):
    given = in_repository(tmp_path)
    with pytest.raises(DraftError, match=r"scaled.cpp:10:28: error: .LAST. was not .*: y\[i\] = F"):
        propose_problem(propose(given))
    header = tmp_path / "sizes.h"
    header.write_text(header.read_text().replace("FACTOR 2", "FACTOR 2\nint a = b;"))
    with pytest.raises(DraftError, match=r"\.\./sizes.h:3:9: error: .b. was not declared"):
        propose_problem(propose(replace(given, kernel=KERNEL_ABOVE.replace("LAST", "a"))))
    with pytest.raises(DraftError, match=r"scaled.cpp:8: y: Shape\*; accepted: double"):
        propose(replace(given, kernel=KERNEL_ABOVE.replace("TYPE *y", "Shape *y")))


def test_a_header_that_two_folders_have_is_asked_for(tmp_path):
    given = in_repository(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "scale.h").write_text("\n")
    with pytest.raises(DraftError) as told:
        propose(given)
    assert str(told.value).startswith(
        "kernel: scaled.cpp:2: scale.h could be ../common/scale.h or ../other/scale.h; accepted:"
    )


def test_lines_of_python_from_several_files_are_named_as_they_were(tmp_path):
    kernel, path = in_package(tmp_path, "from .sizes import block_of")
    text = proposed(CALL, kernel, path=path).kernels["triton"][1]
    source = (path.parent / "sizes.py").read_text().split("\n")
    row = text.split("\n").index("def block_of(n):")
    assert origin_of(text, row + 1, "v0.py") == ("sizes.py", source.index("def block_of(n):") + 1)
    own = text.split("\n").index("def scaled(x, weight, bias=None, factor=2.0):")
    name, line = origin_of(text, own + 1, "v0.py")
    assert (name, kernel.split("\n")[line - 1]) == ("scale.py", text.split("\n")[own])
