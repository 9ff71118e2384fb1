"""Arguments that a call updates, beside what it returns: both are judged."""

import ast

import pytest

from campaigns.devices.launch import EvaluatorService
from campaigns.evaluator.contract import Outcome, Source
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.problems.import_.draft import DraftError, Given, Returned, Role
from campaigns.problems.import_.propose import propose
from campaigns.problems.import_.updates import Effects, answer_places
from campaigns.problems.import_.write import written
from campaigns.steps.problems import written_files
from campaigns.steps.propose_problem import propose_problem
from tests.campaigns.problems.import_.sources import TRITON
from tests.evaluator import small

# One step of an average: the average is updated, and how far the values are from it is returned.
STEP = """
import torch


def drift(mean, x, keep):
    mean.mul_(keep).add_(x, alpha=1 - keep)
    return x - mean
"""
CALL = "drift(torch.randn(16, 24), torch.randn(16, 24), 0.75)"
FORGETS = STEP.replace("mean.mul_(keep).add_", "mean = mean.mul(keep).add")
SAME = [
    ("mean.mul_(2)", {"mean"}),
    ("mean *= 2", {"mean"}),
    ("mean[0] = x[0]", {"mean"}),
    ("flat = mean.view(-1); flat[1:] += 1", {"mean"}),
    ("torch.add(x, 1, out=mean)", {"mean"}),
    ("torch.relu_(x); F.relu(mean, inplace=True)", {"mean", "x"}),
    ("change(x)", {"x"}),
    ("a, b = x, mean\n    with torch.no_grad():\n        b.copy_(a)", {"mean"}),
    ("mean = mean * 2; mean += x", set()),
    ("y = torch.empty_like(x); y.copy_(mean)", set()),
    ("x.requires_grad_()", set()),
]


def given(kernel, reference, call=CALL, **more):
    return Given("drift.py", kernel, "right.py", reference, calls=(call,), entry="drift", **more)


def roles(draft):
    return {arg.name: arg.role for arg in draft.args if arg.role is not Role.NUMBER}


@pytest.mark.parametrize(("body", "updated"), SAME)
def test_what_a_function_changes_is_seen_in_its_source(body, updated):
    text = f"import torch\ndef f(mean, x):\n    {body}\ndef change(one):\n    one.zero_()\n"
    tree = ast.parse(text)
    assert Effects(tree.body[1], tree).updated == updated


def test_of_its_answers_those_that_are_arguments_are_seen():
    body = "    q = q * 2\n    k += 1\n    return q, k.view(-1), q + 1, v.t().contiguous()\n"
    tree = ast.parse(f"def f(q, k, v):\n{body}")
    found = Effects(tree.body[0], tree).returned
    assert found == (Returned("q"), Returned("k", is_same=True), Returned(), Returned())


@pytest.mark.parametrize(
    ("returned", "written", "updated", "places"),
    [
        ([Returned()], ["s"], ["s"], (None,)),
        ([Returned("s", is_same=True)], ["s"], ["s"], ("",)),
        ([Returned(), Returned("s")], ["s"], [], (None, "s")),
        ([Returned(), Returned()], ["q", "k"], [], ("q", "k")),
        ([Returned(), Returned()], ["q"], [], None),
        ([], ["s"], [], ()),
    ],
)
def test_each_answer_has_one_place(returned, written, updated, places):
    assert answer_places(returned, written, updated) == places


def test_a_function_that_updates_a_tensor_and_returns_an_answer_has_two_outputs():
    problem = propose_problem(propose(given(STEP, STEP)))
    assert roles(problem.draft) == {"mean": Role.IN_PLACE, "x": Role.INPUT, "out": Role.OUTPUT}
    assert '"outputs": ["mean", "out"]' in problem.files["ref.py"]
    assert "mean is updated in place: each call starts from what setup gives it" in problem.notes


@pytest.mark.parametrize("outputs", [(), ("mean",)])
def test_naming_the_tensor_changes_nothing(outputs):
    assert roles(propose(given(STEP, STEP, outputs=outputs)))["out"] is Role.OUTPUT


def test_of_what_the_kernel_returns_the_updated_tensor_is_left_out():
    kernel = STEP.replace("return x - mean", "return mean, x - mean")
    text = propose(given(kernel, STEP)).kernels["triton"][1]
    assert "answers = drift(mean=mean, x=x, keep=keep)\n    return answers[1]\n" in text


def test_a_reference_that_returns_the_new_tensor_is_what_it_becomes():
    kernel = TRITON.split("def scaled(")[0] + (
        "def drift(mean, x, keep):\n    scale_rows[(1,)](x, x, mean, 1, BLOCK=1)\n"
    )
    plain = "def drift(mean, x, keep):\n    return mean * keep + x * (1 - keep)\n"
    problem = propose_problem(propose(given(kernel, plain, outputs=("mean",))))
    assert "What the reference returns is what mean becomes." in problem.draft.assumed
    assert [arg["role"] for arg in problem.read["arguments"]][:2] == [
        "output, updated in place",
        "input",
    ]


def test_an_update_that_its_source_hides_is_refused_when_it_is_run():
    hidden = STEP.replace("mean.mul_(keep).add_", "getattr(mean, 'mul_')(keep).add_")
    with pytest.raises(DraftError, match="drift updates mean and returns another answer"):
        propose_problem(propose(given(STEP, hidden, outputs=("mean",))))
    with pytest.raises(DraftError, match="changes 'mean', which is no output; accepted: mean"):
        propose_problem(propose(given(STEP, hidden)))


@pytest.fixture(scope="module")
def service():
    with EvaluatorService() as running:
        yield running


@pytest.mark.sentinel
@pytest.mark.parametrize(
    ("kernel", "outcome"), [(STEP, Outcome.PASSED), (FORGETS, Outcome.WRONG_RESULT)]
)
def test_a_kernel_that_forgets_to_update_its_state_is_refuted(kernel, outcome, service, tmp_path):
    folder = written_files(written(propose(given(STEP, STEP))), tmp_path)
    spec = load_problem(folder)
    job = small.job(
        folder,
        tmp_path,
        Source("candidate.py", f"{kernel}\n\nrun_kernel = drift\n"),
        backend="torch",
        timed=False,
        cases=(spec.cases[0].case,),
    )
    report = service.evaluate(job)
    assert report.outcome is outcome, report.reason
    assert outcome is Outcome.PASSED or "mean" in report.reason
