"""The judge's clock against the driver's tracer, where a job has several cases (R10)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from campaigns.devices.discover import this_device
from campaigns.devices.launch import EvaluatorService
from campaigns.devices.passport import v0_job
from campaigns.evaluator.contract import Outcome, Protocol
from campaigns.evaluator.contract.problem_reader import load_problem

PROBLEMS = Path(__file__).parents[2] / "campaigns" / "problems"


@pytest.mark.gpu
@pytest.mark.parametrize("problem", ["softmax", "cross_entropy"])
def test_r10_the_tracer_agrees_with_the_clock_on_every_case(tmp_path, problem):
    """A case is traced when all are timed, on slots that the judge has just filled anew.

    An index that another case has left there may lie outside of this one's memory.
    """
    device, spec = this_device("cuda:0"), load_problem(PROBLEMS / problem)
    job = v0_job(device, spec, "triton", tmp_path / "scratch", Protocol(blocks=2))
    with EvaluatorService() as service:
        report = service.evaluate(replace(job, incumbent=None))
    assert report.outcome is Outcome.PASSED, report.reason
    assert len(report.cases) > 1
    for case in report.cases:
        timing = case.candidate
        taken_us = median(timing.samples_us)
        assert timing.device_us == pytest.approx(taken_us, rel=0.05), case.case
        assert timing.event_us == pytest.approx(taken_us, rel=0.05), case.case
