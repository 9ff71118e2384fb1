"""Modules with weights, in the way of KernelBench: these become inputs."""

import tomllib

import pytest
import torch

from campaigns.problems.import_.draft import DraftError, Given
from campaigns.problems.import_.propose import propose
from campaigns.problems.import_.write import written
from campaigns.problems.torch_source import eager_source

MODEL = """
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.fc = nn.Linear(width, hidden)
        self.norm = nn.BatchNorm1d(hidden)
        self.drop = nn.Dropout(0.5)
        self.register_buffer("mask", torch.tril(torch.ones(hidden, hidden)))

    def forward(self, x, scale=None):
        return self.drop(self.norm(self.fc(x)) @ self.mask)


rows = 32
width, hidden = 24, 16


def get_inputs():
    return [torch.rand(rows, width)]


def get_init_inputs():
    return [width, hidden]
"""
NEW = """
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.fc = torch.nn.Linear(width, hidden)
        self.norm = torch.nn.BatchNorm1d(hidden)
        self.register_buffer("mask", torch.tril(torch.ones(hidden, hidden)))

    def forward(self, values):
        return self.norm(self.fc(values)) @ self.mask
"""
CUDA = """
extern "C" void solve(const float* x, const float* mask, const float* w, const float* b,
                      const float* gain, const float* shift, float* y, int rows, int HIDDEN) {}
"""


def files(given):
    return written(propose(given))


def loaded(text):
    made = {}
    exec(text, made)
    return made


def answers(made, **sizes):
    given = made["setup"](seed=3, device="cpu", **sizes)
    made["reference"](**given["inputs"])
    return given["inputs"]


def test_weights_are_inputs_and_the_kernel_gets_them():
    found = files(Given("", "", "model.py", MODEL))
    inputs = answers(loaded(found["ref.py"]), rows=8)
    assert [*inputs] == [
        *("x", "mask", "fc_weight", "fc_bias", "norm_weight", "norm_bias", "out", "rows"),
    ]
    assert inputs["out"].shape == (8, 16)
    want = inputs["out"].clone()
    inputs["out"].zero_()
    loaded(found["v0.py"])["run_kernel"](**inputs)
    torch.testing.assert_close(inputs["out"], want)


def test_weights_come_from_the_seed_and_none_is_what_the_module_filled_it_with():
    made = loaded(files(Given("", "", "model.py", MODEL))["ref.py"])
    one, other, again = (
        made["setup"](rows=8, seed=seed, device="cpu")["inputs"] for seed in (1, 2, 1)
    )
    for name in ("fc_weight", "fc_bias", "norm_weight", "norm_bias"):
        assert torch.equal(one[name], again[name])
        assert not torch.equal(one[name], other[name])
    # Torch draws a layer of 24 inputs within ±1/√24, which is a spread of 0.118.
    assert 0.09 < one["fc_weight"].std() < 0.15
    assert (one["norm_weight"] - 1).abs().max() > 0.1
    assert torch.equal(one["mask"], other["mask"])


def test_the_callers_random_numbers_stay_as_they_are():
    made = loaded(files(Given("", "", "model.py", MODEL))["ref.py"])
    torch.manual_seed(7)
    want = torch.rand(3)
    torch.manual_seed(7)
    made["setup"](rows=8, seed=1, device="cpu")
    assert torch.equal(torch.rand(3), want)


def test_only_sizes_that_the_module_is_not_made_with_are_a_cases():
    assert propose(Given("", "", "model.py", MODEL)).cases == {"32": {"rows": 32}}


def test_its_sizes_cannot_be_kept_by_name():
    with pytest.raises(DraftError, match="keep: accepted: with example calls"):
        propose(Given("", "", "model.py", MODEL, keep=("rows",)))


def test_an_interpreter_gets_a_small_batch_and_the_other_sizes_as_they_are():
    wide = MODEL.replace(
        "rows, width)]", "rows, width)[:, :width].reshape(rows, length // 64, -1)]"
    )
    wide = wide.replace("rows = 32", "rows = 4096\nlength = 64")
    described = tomllib.loads(files(Given("", "", "model.py", wide))["problem.toml"])
    found = {tuple(case["on"]): case["params"] for case in described["case"]}
    assert found[("interpreter",)] == {"rows": 16, "length": 64}
    assert found[("cpu", "gpu")] == {"rows": 4096, "length": 64}


def test_a_model_new_has_the_weights_of_the_same_keys():
    found = files(Given("new.py", NEW, "model.py", MODEL))
    inputs = answers(loaded(found["ref.py"]), rows=8)
    want = inputs["out"].clone()
    inputs["out"].zero_()
    loaded(found["v0.py"])["run_kernel"](**inputs)
    torch.testing.assert_close(inputs["out"], want)


def test_a_model_new_with_weights_of_its_own_is_refused_in_one_line():
    other = NEW.replace("self.fc", "self.linear")
    found = files(Given("new.py", other, "model.py", MODEL))
    inputs = answers(loaded(found["ref.py"]), rows=8)
    with pytest.raises(TypeError) as refused:
        loaded(found["v0.py"])["run_kernel"](**inputs)
    said = str(refused.value)
    assert "linear.weight, linear.bias" in said
    assert "fc_weight" in said
    assert "\n" not in said


def test_a_cuda_kernel_has_them_by_name_else_in_order():
    found = files(Given("mlp.cu", CUDA, "model.py", MODEL))
    inputs = answers(loaded(found["ref.py"]), rows=8)
    assert [*inputs] == ["x", "mask", "w", "b", "gain", "shift", "y", "rows", "HIDDEN"]
    assert (inputs["rows"], inputs["HIDDEN"]) == (8, 16)
    assert inputs["w"].shape == (16, 24)
    assert inputs["y"].abs().sum() > 0


def test_a_number_that_no_constant_of_the_reference_gives_is_named():
    with pytest.raises(DraftError, match="columns: no constant"):
        propose(Given("mlp.cu", CUDA.replace("HIDDEN", "columns"), "model.py", MODEL))


def test_a_kernel_with_too_few_arguments_is_told_what_it_lacks():
    few = CUDA.replace("const float* gain, const float* shift, ", "")
    made = loaded(files(Given("mlp.cu", few, "model.py", MODEL))["ref.py"])
    with pytest.raises(ValueError, match="takes no norm_weight, norm_bias"):
        made["setup"](rows=8, seed=1, device="cpu")


def test_inputs_and_answers_of_any_kind_keep_their_names():
    model = (
        "import torch\n\n\nclass Model(torch.nn.Module):\n"
        "    def forward(self, output, where, factor):\n"
        "        kept = output.masked_fill(where, 0.0) * factor\n"
        "        return {'sum': kept.sum(), 'rest': (kept, kept.argmax(-1))}\n\n\n"
        "n = 8\n\n\ndef get_inputs():\n"
        "    return [torch.randn(n, 4).half(), torch.rand(n, 4) > 0.5, 2.5]\n"
    )
    inputs = answers(loaded(files(Given("", "", "model.py", model))["ref.py"]), n=8)
    assert [*inputs] == ["output", "where", "factor", "answer1", "answer2", "answer3", "n"]
    assert inputs["answer1"].shape == ()
    assert inputs["answer3"].dtype == torch.int64


def test_torch_runs_the_module_without_what_makes_its_inputs():
    """The source that is timed beside the best kernel holds the class and what that needs."""
    ref = propose(Given("", "", reference_file="model.py", reference=MODEL, name="fc")).own_ref
    source = eager_source(ref).text
    assert "rand(rows" not in source
    arguments = answers(loaded(ref), rows=8)
    place = torch.zeros_like(arguments["out"])
    loaded(source)["run_kernel"](**arguments | {"out": place})
    torch.testing.assert_close(place, arguments["out"])
