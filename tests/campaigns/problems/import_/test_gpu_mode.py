"""Tasks of GPU MODE."""

import pytest
import torch

from campaigns.problems.import_.draft import NO_KERNEL, DraftError
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


def test_a_size_that_means_something_else_here_gets_another_name():
    task = TASK.replace('"cols"', '"distribution"')
    draft = read_task("t", task, REFERENCE.replace("cols", "distribution"), SUBMISSION)
    assert draft.cases["16x32"] == {"rows": 16, "its_distribution": 32}
    made = {}
    exec(written(draft)["ref.py"], made)
    inputs = made["setup"](rows=4, its_distribution=8, seed=1, device="cpu")["inputs"]
    assert inputs["data0"].shape == (4, 8)


def test_what_the_host_of_a_competition_sets_up_does_nothing():
    reference = REFERENCE.replace("DeterministicContext", "DisableSomething")
    made = {}
    exec(written(read_task("t", TASK, reference, ""))["ref.py"], made)
    assert made["setup"](rows=4, cols=8, seed=1, device="cpu")["outputs"] == ["out0"]


def test_a_size_with_a_default_may_be_left_out():
    task = TASK.replace('"rows": 8, ', "")
    draft = read_task("t", task, REFERENCE.replace("rows: int,", "").replace("rows,", "3,"), "")
    assert [*draft.cases.values()] == [{"rows": 16, "cols": 32}, {"cols": 64}]
    made = {}
    exec(written(draft)["ref.py"], made)
    assert made["setup"](cols=8, seed=1, device="cpu")["inputs"]["data0"].shape == (3, 8)


def test_a_task_without_a_submission_begins_with_its_reference():
    task = TASK.replace('"cols": 32,', '"cols": 32, "kind": "even odd", "bias": true,')
    task = task.replace('"cols": 64,', '"cols": 64, "kind": "odd", "bias": false,')
    reference = REFERENCE.replace("cols: int,", "cols: int, kind: str, bias: bool,")
    draft = read_task("scale-rows", task, reference, "")
    assert draft.assumed[0] == NO_KERNEL
    assert [*draft.cases] == ["16x32xeven_oddxTrue", "8x64xoddxFalse"]
    files = written(draft)
    assert 'kind = "even odd", bias = true' in files["problem.toml"]
    kernel = {}
    exec(files["v0.py"], kernel)
    out = torch.zeros(2, 3)
    kernel["run_kernel"](data0=torch.ones(2, 3), data1=torch.ones(3), out0=out)
    assert torch.equal(out, torch.ones(2, 3))


@pytest.mark.parametrize(
    ("task", "reference", "submission", "field"),
    [
        ("a: [", REFERENCE, SUBMISSION, "definition"),
        ("tests: 3", REFERENCE, SUBMISSION, "definition"),
        ('tests: [{"n": [1, 2]}]', REFERENCE, SUBMISSION, "definition"),
        (TASK, "x = 1", SUBMISSION, "reference"),
        (TASK, REFERENCE, "x = 1", "solution"),
    ],
)
def test_what_is_wrong_is_named(task, reference, submission, field):
    with pytest.raises(DraftError) as refused:
        read_task("task", task, reference, submission)
    assert refused.value.field == field
    assert "\n" not in refused.value.message
