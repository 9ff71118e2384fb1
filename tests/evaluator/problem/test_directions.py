"""The shipped problem with two directions, through the judge."""

from __future__ import annotations

import statistics
from dataclasses import replace
from pathlib import Path

import pytest

from campaigns.evaluator.contract import Case, Job, Outcome, Source
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.problems.shipped import SHIPPED
from campaigns.rules.noise.directions import Direction, Half
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import compare
from tests.evaluator import small

FOLDER = SHIPPED / "linear"
SIZES = {"M": 48, "K": 32, "N": 40}
CASES = tuple(Case(name, {**SIZES, "BACKWARD": n}) for n, name in enumerate(("fwd", "bwd")))
HALVES = {"fwd": Half("s", Direction.FORWARD), "bwd": Half("s", Direction.BACKWARD)}


def job(scratch: Path, backend: str, **more) -> Job:
    name = load_problem(FOLDER).files[backend]
    source = Source(name, (FOLDER / name).read_text())
    return small.job(FOLDER, scratch, source, backend=backend, cases=CASES, **more)


def test_r14_it_measures_both_directions_and_judges_the_step(service, tmp_path):
    asked = job(tmp_path, "cpp")
    report = service.evaluate(replace(asked, incumbent=asked.candidate))
    assert report.outcome is Outcome.PASSED, report.reason
    assert [case.correct for case in report.cases] == [True, True]
    found = compare(report, Standard(has_incumbent=True, halves=HALVES))
    steps = zip(
        *(zip(c.incumbent.samples_us, c.candidate.samples_us, strict=True) for c in report.cases),
        strict=True,
    )
    ratios = [(fwd[0] + bwd[0]) / (fwd[1] + bwd[1]) for fwd, bwd in steps]
    assert found.gain.gain == pytest.approx(statistics.median(ratios) - 1)
    assert set(found.cases) == {"fwd", "bwd"}


@pytest.mark.parametrize("backend", ["cpp", "triton"])
def test_r14_v0_is_right_in_both_directions(service, tmp_path, backend):
    report = service.evaluate(job(tmp_path, backend, timed=False))
    assert report.outcome is Outcome.PASSED, f"{report.reason}\n{report.runner_log}"
    assert [case.correct for case in report.cases] == [True, True]


def test_r14_a_wrong_gradient_is_found(service, tmp_path):
    asked = job(tmp_path, "cpp", timed=False)
    wrong = asked.candidate.text.replace("dot(x + k, K, dy + n, N, M)", "dot(x + k, K, dy, N, M)")
    report = service.evaluate(replace(asked, candidate=replace(asked.candidate, text=wrong)))
    assert report.outcome is Outcome.WRONG_RESULT
    assert "case bwd" in report.reason
