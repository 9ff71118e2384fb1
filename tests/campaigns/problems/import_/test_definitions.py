"""Definitions of FlashInfer Trace and SOL-ExecBench."""

import json
import tomllib

import pytest

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
    assert "out.copy_(run(" in files["v0.py"]


def test_a_solution_is_the_kernel():
    text = read(solution=json.dumps(SOLUTION)).kernels["triton"][1]
    assert "out.copy_(scaled(" in text


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
        ({}, WORKLOADS, json.dumps({"spec": {"language": "cuda"}, "sources": [{}]}), "solution"),
    ],
)
def test_what_is_wrong_is_named(change, workloads, solution, field):
    with pytest.raises(DraftError) as refused:
        read(change, workloads, solution)
    assert refused.value.field == field
