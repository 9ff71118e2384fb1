"""A problem proposed for a kernel, from what its files say."""

import tomllib

import pytest

from campaigns.problems.import_.draft import (
    Distribution,
    DraftError,
    Given,
    Role,
    case_name,
    slug_of,
)
from campaigns.problems.import_.propose import propose
from campaigns.problems.import_.write import written
from tests.campaigns.problems.import_.sources import ADD_BIAS, CPP, CUDA, RELU, TRITON


def roles(draft):
    return {arg.name: (arg.role, arg.dtype, arg.shape) for arg in draft.args}


def test_a_triton_file_with_reference_and_test_needs_nothing_else():
    draft = propose(Given("scale.py", TRITON))
    assert draft.cases == {"64x128": {"rows": 64, "cols": 128}}
    found = roles(draft)
    assert found["x"] == (Role.INPUT, "float16", ("rows", "cols"))
    assert found["weight"] == (Role.INPUT, "float16", ("cols",))
    assert found["out"][0] is Role.OUTPUT
    # A default of None is no argument of the problem.
    assert "bias" not in found
    assert next(arg.value for arg in draft.args if arg.name == "factor") == 2.0


def test_a_size_is_not_called_like_an_argument_that_calls_leave_out():
    call = "scaled(torch.randn(64, 128), torch.ones(128))"
    draft = propose(Given("scale.py", TRITON.replace("bias", "n"), calls=(call,)))
    assert draft.cases == {"64x128": {"D": 64, "K": 128}}
    assert "n" not in roles(draft)


def test_a_weight_of_ones_is_drawn_around_one_and_that_is_said():
    draft = propose(Given("scale.py", TRITON))
    weight = next(arg for arg in draft.args if arg.name == "weight")
    assert (weight.draw, weight.after) == (Distribution.NORMAL, "({} + 1.0)")
    assert any(words.startswith("weight is drawn") for words in draft.assumed)
    x = next(arg for arg in draft.args if arg.name == "x")
    assert x.after == "({} * 0.5)"


def test_the_written_files_hold_the_kernel_and_no_kernel_in_the_reference():
    files = written(propose(Given("scale.py", TRITON)))
    described = tomllib.loads(files["problem.toml"])
    assert described["files"] == {"triton": "v0.py"}
    assert [case["on"] for case in described["case"]] == [["cpu", "gpu"]]
    assert files["v0.py"].startswith(TRITON.rstrip("\n"))
    assert "def run_kernel(x, weight, factor):" in files["v0.py"]
    assert "triton" not in files["ref.py"]
    compile(files["ref.py"], "ref.py", "exec")
    compile(files["v0.py"], "v0.py", "exec")


def test_a_cuda_file_takes_the_reference_by_order_and_its_numbers_as_sizes():
    call = "add_bias(torch.randn(32, 48), torch.randn(48))"
    draft = propose(Given("add.cu", CUDA, "ref.py", ADD_BIAS, calls=(call,)))
    assert roles(draft)["values"] == (Role.INPUT, "float32", ("rows", "cols"))
    assert roles(draft)["y"][0] is Role.OUTPUT
    assert draft.cases == {"32x48": {"rows": 32, "cols": 48}}
    assert "values is what the reference calls x." in draft.assumed
    assert "_right(values, bias)" in written(draft)["ref.py"]


@pytest.mark.parametrize(
    ("file", "said", "named"),
    [
        ("kernel.cu", "", ("add_bias", "Add bias")),
        ("fused.cu", "", ("fused", "Fused")),
        ("kernel.cu", "mine", ("mine", "Mine")),
    ],
)
def test_a_file_whose_name_says_nothing_has_the_name_of_its_reference(file, said, named):
    reference = ADD_BIAS.replace("add_bias", "add_bias_ref")
    call = "add_bias_ref(torch.randn(32, 48), torch.randn(48))"
    draft = propose(Given(file, CUDA, "ref.py", reference, calls=(call,), name=said))
    assert (draft.name, draft.title) == named


def test_equal_sizes_are_one_unless_the_call_names_them():
    square = "add_bias(torch.randn(32, 32), torch.randn(32))"
    with pytest.raises(DraftError, match="name them in the call"):
        propose(Given("add.cu", CUDA, "ref.py", ADD_BIAS, calls=(square,)))
    named = "rows, cols = 32, 32; add_bias(torch.randn(rows, cols), torch.randn(cols))"
    draft = propose(Given("add.cu", CUDA, "ref.py", ADD_BIAS, calls=(named,)))
    assert draft.cases == {"32x32": {"rows": 32, "cols": 32}}


def test_two_calls_are_two_cases_of_a_cpp_kernel_and_a_module():
    calls = ("Relu()(torch.randn(8, 16))", "Relu()(torch.randn(4, 32))")
    draft = propose(Given("relu.cpp", CPP, "ref.py", RELU, calls=calls))
    assert draft.cases == {"8x16": {"N": 8, "D": 16}, "4x32": {"N": 4, "D": 32}}
    assert "_right = Relu()" in written(draft)["ref.py"]


def test_what_a_file_does_at_import_is_left_out_and_its_kernels_stay():
    tutorial = TRITON + "\nx = torch.randn(8, 16)\nprint(scaled(x, torch.randn(16)))\n"
    draft = propose(Given("scale.py", tutorial))
    text = draft.kernels["triton"][1]
    assert "@triton.jit\ndef scale_rows" in text
    assert "print" not in text
    assert any("is left out" in words for words in draft.assumed)


def test_a_module_in_the_way_of_kernelbench_brings_its_inputs():
    reference = (
        "import torch\n\n\nclass Model(torch.nn.Module):\n"
        "    def __init__(self, slope):\n        super().__init__()\n        self.slope = slope\n\n"
        "    def forward(self, x):\n        return torch.where(x > 0, x, x * self.slope)\n\n\n"
        "batch, dim = 8, 16\n\n\ndef get_inputs():\n    return [torch.rand(batch, dim)]\n\n\n"
        "def get_init_inputs():\n    return [0.5]\n"
    )
    kernel = TRITON.split("def scaled")[0] + (
        "class ModelNew(torch.nn.Module):\n"
        "    def __init__(self, slope):\n        super().__init__()\n\n"
        "    def forward(self, x):\n        return x\n"
    )
    draft = propose(Given("new.py", kernel, "model.py", reference))
    assert draft.cases == {"8x16": {"batch": 8, "dim": 16}}
    files = written(draft)
    assert "def get_inputs" in files["ref.py"]
    assert "_module = _without_chance(ModelNew(*get_init_inputs()))" in files["v0.py"]


def test_long_names_are_cut_and_those_of_cases_stay_apart():
    assert len(slug_of("conv_" * 30)) == 49
    names = {case_name([*range(40), last]) for last in range(3)}
    assert len(names) == 3
    assert all(len(name) == 50 for name in names)


def test_without_a_kernel_the_reference_is_the_first_to_beat():
    call = "add_bias(torch.randn(32, 48), torch.randn(48))"
    draft = propose(Given("", "", "ref.py", ADD_BIAS, calls=(call,)))
    assert "torch eager" in draft.assumed[0]
    assert "return add_bias(x=x, bias=bias)" in draft.kernels["triton"][1]


def test_each_of_several_answers_is_an_output():
    text = TRITON.replace("    return y", "    return y, y.sum(1)").replace(
        "    return x * weight", "    return x * weight, (x * weight).sum(1)"
    )
    draft = propose(Given("scale.py", text))
    assert [arg.name for arg in draft.args if arg.role is Role.OUTPUT] == ["out1", "out2"]
    assert "return scaled(" in draft.kernels["triton"][1]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        (Given("kernel.txt", CPP), "kernel"),
        (Given("relu.cpp", CPP), "reference"),
        (Given("relu.cpp", "int main() {}", "ref.py", RELU, calls=("Relu()(torch.randn(4, 4))",)),
         "kernel"),
        (Given("scale.py", "def ( {"), "kernel"),
        (Given("scale.py", TRITON, entry="absent"), "entry"),
        (Given("scale.py", TRITON, function="absent"), "reference"),
        (Given("scale.py", TRITON, calls=("scaled(load(1))",)), "call"),
        (Given("scale.py", TRITON, calls=("scaled(",)), "call"),
        (Given("scale.py", TRITON.split("def test_it")[0]), "call"),
        (Given("scale.py", "x = 1\n"), "kernel"),
        (Given("relu.cpp", CPP, "ref.py", RELU, calls=("Relu()(torch.randn(4))",)), "call"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named(given, field):
    with pytest.raises(DraftError) as refused:
        propose(given)
    assert refused.value.field == field
    assert "\n" not in refused.value.message
