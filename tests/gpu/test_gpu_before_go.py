"""Triton tricks that only make sense where a runner spins for its go, which is on a GPU."""

from __future__ import annotations

import pytest

from campaigns.benchmarks.trick import TRICKS, every, job_of
from campaigns.devices.discover import this_device
from campaigns.devices.launch import EvaluatorService
from campaigns.evaluator.contract import Outcome

FOUND = list(every(TRICKS, "cheats", "triton_gpu"))


@pytest.mark.gpu
@pytest.mark.parametrize("trick", FOUND, ids=lambda trick: trick.path.stem)
def test_it_does_not_fall_for_work_before_go(trick, tmp_path):
    with EvaluatorService() as service:
        job = job_of(trick, tmp_path / "scratch", "cuda:0", this_device("cuda:0").target)
        report = service.evaluate(job)
    assert report.outcome in trick.outcomes, report.reason
    assert report.outcome is not Outcome.PASSED
    assert all(case.candidate is None for case in report.cases)


def test_there_is_such_a_trick():
    assert FOUND
