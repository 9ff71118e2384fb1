"""Definitions of FlashInfer Trace and SOL-ExecBench."""

import json
import tomllib

import pytest
import torch

from campaigns.problems.import_.definitions import read_definition
from campaigns.problems.import_.draft import DraftError, Role
from campaigns.problems.import_.write import written
from tests.campaigns.problems.import_.sources import TRITON

DEFINITION = {
    "name": "scale_rows_n64",
    "op_type": "scale",
    "axes": {
        "M": {"type": "var"},
        "N": {"type": "const", "value": 64},
        "W": {"type": "expr", "expression": "2 * N"},
    },
    "inputs": {
        "x": {"shape": ["M", "W"], "dtype": "float32"},
        "weight": {"shape": ["W"], "dtype": "float32"},
        "factor": {"shape": None, "dtype": "float32"},
    },
    "outputs": {"out": {"shape": ["M", "W"], "dtype": "float32"}},
    "reference": "import torch\n\n\ndef run(x, weight, factor):\n    return x * weight * factor\n",
}
WORKLOADS = "\n".join(
    json.dumps({"definition": "scale_rows_n64", "workload": {"axes": {"M": size}}})
    for size in (16, 48)
)
SOLUTION = {
    "spec": {"language": "triton", "entry_point": "main.py::scaled"},
    "sources": [{"path": "main.py", "content": TRITON}],
}


def read(change=None, workloads=WORKLOADS, solution=""):
    return read_definition(json.dumps({**DEFINITION, **(change or {})}), workloads, solution)


def test_axes_are_sizes_constants_and_expressions():
    draft = read()
    shapes = {arg.name: arg.shape for arg in draft.args if arg.role is not Role.NUMBER}
    assert shapes == {"x": ("M", "(2 * 64)"), "weight": ("(2 * 64)",), "out": ("M", "(2 * 64)")}
    assert draft.cases == {"16": {"M": 16}, "48": {"M": 48}}
    files = written(draft)
    tomllib.loads(files["problem.toml"])
    compile(files["ref.py"], "ref.py", "exec")
    assert "_returning" not in files["v0.py"]
    assert "return run(" in files["v0.py"]


def test_a_solution_is_the_kernel():
    text = read(solution=json.dumps(SOLUTION)).kernels["triton"][1]
    assert "return scaled(" in text


def lines(*workloads):
    return "\n".join(json.dumps(each) for each in workloads)


def inputs_of(draft, **sizes):
    made = {}
    exec(written(draft)["ref.py"], made)
    return made["setup"](seed=1, device="cpu", **sizes)["inputs"]


def test_numbers_are_those_of_the_workloads():
    one = {"axes": {"M": 16}, "inputs": {"factor": {"type": "scalar", "value": 0.5}}}
    assert inputs_of(read(workloads=lines(one)), M=4)["factor"] == 0.5
    other = {"axes": {"M": 16}, "inputs": {"factor": {"type": "scalar", "value": 0.25}}}
    draft = read(workloads=lines(one, other))
    assert [*draft.cases.values()] == [{"M": 16, "factor": 0.5}, {"M": 16, "factor": 0.25}]
    assert inputs_of(draft, M=4, factor=0.25)["factor"] == 0.25


def test_sizes_may_be_written_as_words_and_a_loss_has_none():
    change = {
        "inputs": {"x": {"shape": ["M", "1"], "dtype": "float32"}},
        "outputs": {"out": {"shape": [], "dtype": "float32"}},
        "reference": "def run(x):\n    return x.sum()\n",
    }
    inputs = inputs_of(read(change), M=4)
    assert inputs["x"].shape == (4, 1)
    assert inputs["out"].shape == ()


def test_a_definition_without_sizes_is_one_case():
    change = {"axes": {"N": {"type": "const", "value": 64}, "W": DEFINITION["axes"]["W"]}}
    change["inputs"] = {"x": {"shape": ["W"], "dtype": "float32"}}
    change["outputs"] = {"out": {"shape": ["W"], "dtype": "float32"}}
    change["reference"] = "def run(x):\n    return x * 2\n"
    draft = read(change, workloads="")
    assert [*draft.cases] == ["given"]
    assert inputs_of(draft, draw=1)["x"].shape == (128,)


def test_a_reference_may_make_the_inputs_itself():
    change = {
        "custom_inputs_entrypoint": "made",
        "reference": DEFINITION["reference"]
        + "\n\ndef made(sizes, device):\n"
        + "    x = torch.rand(sizes['M'], sizes['W'], device=device) + 5\n"
        + "    return {'x': x, 'weight': torch.ones(sizes['W'], device=device)}\n",
    }
    inputs = inputs_of(read(change), M=4)
    assert inputs["x"].min() >= 5
    assert inputs["factor"] == 1.0
    assert not torch.equal(inputs["x"], torch.zeros_like(inputs["x"]))


@pytest.mark.parametrize(
    ("change", "workloads", "solution", "field"),
    [
        ({"reference": None}, WORKLOADS, "", "definition"),
        ({"axes": []}, WORKLOADS, "", "definition"),
        ({"inputs": {"x": {"shape": ["Q"], "dtype": "float32"}}}, WORKLOADS, "", "definition"),
        ({"inputs": {"x": {"shape": ["M"], "dtype": "float4"}}}, WORKLOADS, "", "definition"),
        ({"inputs": {"a b": {"shape": ["M"], "dtype": "int8"}}}, WORKLOADS, "", "definition"),
        (
            {"axes": {**DEFINITION["axes"], "W": {"type": "expr", "expression": "open(1)"}}},
            WORKLOADS,
            "",
            "definition",
        ),
        ({}, "", "", "workloads"),
        ({}, "{", "", "workloads line 1"),
        ({"custom_inputs_entrypoint": "absent"}, WORKLOADS, "", "definition"),
        ({}, '{"axes": {"M": 2}, "inputs": {"x": {"type": "safetensors"}}}', "", "workloads"),
        ({}, '{"axes": {"M": 2}, "inputs": {"factor": {"type": "scalar"}}}', "", "workloads"),
        ({}, WORKLOADS, json.dumps({"spec": {"language": "cuda"}, "sources": [{}]}), "solution"),
    ],
)
def test_what_is_wrong_is_named(change, workloads, solution, field):
    with pytest.raises(DraftError) as refused:
        read(change, workloads, solution)
    assert refused.value.field == field
