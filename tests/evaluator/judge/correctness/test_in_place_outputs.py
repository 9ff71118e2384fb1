"""It sees which outputs a reference starts from, and says so of one that writes none."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from campaigns.evaluator.contract import Case, Outcome
from campaigns.evaluator.contract.errors import BadReference
from campaigns.evaluator.judge.correctness.arena import Slots
from campaigns.evaluator.judge.correctness.fresh_inputs import SeparateInputs, fill, starts_intact
from campaigns.evaluator.judge.timing.proof import telling_positions
from campaigns.evaluator.problem_code.code import ProblemCode
from campaigns.evaluator.reference.reference import Reference
from tests.evaluator import small

IN_PLACE = small.REF.replace("torch.empty_like(x)", "torch.arange(N, device=device).float()")
ADDS = IN_PLACE.replace("torch.mul(x, 2, out=y)", "y.add_(x)")
ONE_ROW = IN_PLACE.replace("torch.mul(x, 2, out=y)", "y[3:90] = x[3:90]")
CASE = Case("n4096", {"N": 4096})


def reference(tmp_path: Path, body: str, ref: str = small.REF) -> Reference:
    folder = small.write_problem(tmp_path, ref=ref.replace("torch.mul(x, 2, out=y)", body))
    return Reference(ProblemCode(folder))


@pytest.mark.parametrize(
    "body",
    [
        "y.copy_(2 * x)",
        "y.zero_(); y.add_(x)",
        "y.copy_(x + 0.01 * torch.randn(N))",
        "x.requires_grad_(); y.copy_(x * 2)",
    ],
)
def test_an_output_that_is_only_written_starts_from_nothing(tmp_path, body):
    layout = reference(tmp_path, body).layout(CASE, "cpu")
    assert [arg.name for arg in layout.given] == ["x"]


@pytest.mark.parametrize("body", ["y.add_(x)", "y[7] = x[7]", "y.clamp_(max=1.0).add_(x)"])
def test_an_output_that_is_read_or_partly_kept_starts_from_what_setup_gives(tmp_path, body):
    told: list[str] = []
    folder = small.write_problem(tmp_path, ref=IN_PLACE.replace("torch.mul(x, 2, out=y)", body))
    layout = Reference(ProblemCode(folder), told.append).layout(CASE, "cpu")
    assert [arg.name for arg in layout.given] == ["x", "y"]
    assert told == ["y is updated in place: each call starts from what setup gives it"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return 2 * x", "leaves the output 'y' as it was; what it returns is not read"),
        ("y[:9] = x[:9]", "does not write all of 'y', to which setup gives no contents"),
        ("x.add_(x); y.copy_(x)", "changes 'x', which is no output; accepted: x among the outputs"),
    ],
)
def test_it_says_what_a_reference_leaves_out(tmp_path, body, words):
    with pytest.raises(BadReference, match=rf"double/ref.py:\d+: reference: {words}"):
        reference(tmp_path, body).layout(CASE, "cpu")


@pytest.mark.parametrize(
    ("ref", "body"),
    [
        (ADDS, "for (int i = 0; i < N; ++i) y[i] += x[i];"),
        (ONE_ROW, "for (int i = 3; i < 90 && i < N; ++i) y[i] = x[i];"),
    ],
)
def test_it_judges_a_kernel_that_works_in_place(service, tmp_path, ref, body):
    folder = small.write_problem(tmp_path, ref=ref)
    report = service.evaluate(small.job(folder, tmp_path, small.source(body)))
    assert report.outcome is Outcome.PASSED, report.reason


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", "elements wrong"),
        (small.LOOP, "elements wrong"),
        ("for (int i = 0; i < N; ++i) y[i] += ++calls > 200000 ? 0 : x[i];", "timed call"),
        ("for (int i = 0; i < N; ++i) y[i] += x[i]; y[N + 3] = 1;", "wrote outside its output"),
    ],
    ids=["nothing", "not from its start", "later nothing", "behind it"],
)
def test_it_does_not_believe_one_that_does_not(service, tmp_path, body, words):
    folder = small.write_problem(tmp_path, ref=ADDS)
    candidate = small.source(body, "static int calls;\n")
    report = service.evaluate(small.job(folder, tmp_path, candidate))
    assert report.outcome is Outcome.WRONG_RESULT, report.reason
    assert words in report.reason


def test_what_no_call_was_made_on_has_to_stay_as_it_was_given(tmp_path):
    layout = reference(tmp_path, "y.add_(x)", IN_PLACE).layout(CASE, "cpu")
    slots = Slots(torch.zeros(3, layout.stride, dtype=torch.uint8), layout)
    truth = SeparateInputs([{name: torch.rand(4096) for name in "xy"} for _ in range(3)])
    fill(slots, truth)
    y = layout.outputs[0]
    slots.one(y, 1)[5] += 1
    assert [starts_intact(slots, truth, first) for first in range(3)] == [False, False, True]


def test_it_reads_where_calls_have_to_change_something_and_asks_the_reference_once(tmp_path):
    asked = []

    def changes(truth, names, first, count):
        asked.append((names, first, count))
        changed = torch.zeros(count, 4096, dtype=torch.bool)
        for row in range(count):
            changed[row, [7, 4000] if first + row != 2 else []] = True
        return [(name, changed) for name in names]

    layout = reference(tmp_path, "y.add_(x)", IN_PLACE).layout(CASE, "cpu")
    supply = SimpleNamespace(generator=torch.Generator())
    context = SimpleNamespace(
        supply=supply, device=torch.device("cpu"), proven_at_once=3, changes=changes
    )
    (y,) = layout.outputs
    at, tells = telling_positions(context, None, {y: (6, 40)}, 4)["y"]
    assert asked == [(["y"], 0, 3), (["y"], 3, 1)]
    assert tells.tolist() == [True, True, False, True, True, True]
    assert all(set(at[row].tolist()) == {7, 4000} for row in (0, 1, 3))
    assert all(len(set(at[row].tolist())) > 2 for row in (2, 4, 5))


def test_it_sees_work_in_place_that_is_late_where_little_changes(service, tmp_path):
    folder = small.write_problem(tmp_path, ref=ONE_ROW)
    before = "#include <thread>\n#include <chrono>\nstatic int calls = 0;\n"
    body = """
    auto work = [=] { for (int i = 3; i < 90; ++i) y[i] = x[i]; };
    if (++calls <= 14) { work(); return; }
    std::thread([=] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20)); work(); }).detach();
    """
    candidate = small.source(body, before, ("-pthread",))
    report = service.evaluate(small.job(folder, tmp_path, candidate))
    assert report.outcome is Outcome.CHEATED
    assert "before its work was done" in report.reason


def test_it_takes_a_reference_that_runs_in_its_own_precision_only(service, tmp_path):
    body = "t = torch.zeros(N); t.index_add_(0, torch.arange(N), 2 * x); y.copy_(t)"
    folder = small.write_problem(tmp_path, ref=small.REF.replace("torch.mul(x, 2, out=y)", body))
    report = service.evaluate(small.job(folder, tmp_path, small.source()))
    assert report.outcome is Outcome.PASSED, report.reason
    assert any("does not run in float64" in note for note in report.notes)


def test_sizes_that_the_reference_refuses_are_no_hidden_sizes(service, tmp_path):
    ref = small.REF.replace("torch.mul(x, 2, out=y)", "y.copy_((2 * x.view(-1, 64)).view(N))")
    folder = small.write_problem(tmp_path, ref=ref)
    report = service.evaluate(small.job(folder, tmp_path, small.source()))
    assert report.outcome is Outcome.PASSED, report.reason
    assert any("no hidden sizes" in note for note in report.notes)


def test_it_gives_setup_seeds_that_numpy_takes(service, tmp_path):
    draw = "import numpy; numpy.random.seed(seed); x = torch.from_numpy(numpy.random.randn(N))"
    ref = small.REF.replace("x = torch.randn(N, generator=g, device=device)", draw + ".float()")
    folder = small.write_problem(tmp_path, ref=ref)
    report = service.evaluate(small.job(folder, tmp_path, small.source(), timed=False))
    assert report.outcome is Outcome.PASSED, report.reason
