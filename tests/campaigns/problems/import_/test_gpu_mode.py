"""Tasks of GPU MODE."""

import pytest
import torch

from campaigns.problems.import_.draft import DraftError
from campaigns.problems.import_.gpu_mode import read_task
from campaigns.problems.import_.write import written

TASK = """
lang: "py"
tests:
  - {"rows": 4, "cols": 8, "seed": 1}
benchmarks:
  - {"rows": 16, "cols": 32, "seed": 2}
  - {"rows": 8, "cols": 64, "seed": 3}
"""
REFERENCE = """
from utils import make_match_reference, DeterministicContext
import torch
from task import input_t, output_t


def ref_kernel(data: input_t) -> output_t:
    with DeterministicContext():
        x, weight = data
        return x * weight


def generate_input(rows: int, cols: int, seed: int) -> input_t:
    gen = torch.Generator(device="cuda")
    gen.manual_seed(seed)
    x = torch.randn(rows, cols, device='cuda', generator=gen)
    return x, torch.randn(cols, device="cuda", generator=gen)


check_implementation = make_match_reference(ref_kernel)
"""
SUBMISSION = """
from task import input_t, output_t
import torch


def custom_kernel(data):
    return data[0] * data[1]
"""


def test_a_task_is_a_problem_on_any_device():
    draft = read_task("scale-rows", TASK, REFERENCE, SUBMISSION)
    assert draft.name == "scale_rows"
    assert draft.cases == {"16x32": {"rows": 16, "cols": 32}, "8x64": {"rows": 8, "cols": 64}}
    files = written(draft)
    made, kernel = {}, {}
    exec(files["ref.py"], made)
    exec(files["v0.py"], kernel)
    inputs = made["setup"](rows=4, cols=8, seed=1, device="cpu")["inputs"]
    assert list(inputs) == ["data0", "data1", "out0"]
    made["reference"](**inputs)
    want = inputs["out0"].clone()
    inputs["out0"].zero_()
    kernel["run_kernel"](**inputs)
    assert torch.equal(inputs["out0"], want)


@pytest.mark.parametrize(
    ("task", "reference", "submission", "field"),
    [
        ("a: [", REFERENCE, SUBMISSION, "definition"),
        ("tests: 3", REFERENCE, SUBMISSION, "definition"),
        ('tests: [{"n": "many"}]', REFERENCE, SUBMISSION, "definition"),
        ('tests: [{"n": 1}, {"m": 2}]', REFERENCE, SUBMISSION, "definition"),
        (TASK, "x = 1", SUBMISSION, "reference"),
        (TASK, REFERENCE, "x = 1", "solution"),
    ],
)
def test_what_is_wrong_is_named(task, reference, submission, field):
    with pytest.raises(DraftError) as refused:
        read_task("task", task, reference, submission)
    assert refused.value.field == field
    assert "\n" not in refused.value.message
