"""Calls that overlap gain nothing, and work in no order is refused.

With `-s` it prints the table for both.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from campaigns.benchmarks.trick import TRICKS, read
from campaigns.devices.discover import this_device
from campaigns.devices.passport import v0_job
from campaigns.evaluator.contract import Case, Limits, Outcome, Protocol, Report, Timer
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.rules.verdict.gates import decisive_samples

pytestmark = pytest.mark.gpu

SOFTMAX = Path(__file__).parents[2] / "campaigns" / "problems" / "softmax"
PROTOCOL = Protocol(blocks=4, trials=2, limits=Limits(call_s=5))
SIZES = ((64, 256), (1024, 1024), (4096, 4096))
# By how much calls in no overlap may seem faster than those of the same kernel beside them.
NOISE = 1.01


@pytest.fixture
def judged(service, tmp_path):
    """A Triton softmax, honest where none is named, beside the honest one at a size."""

    def judge(size: tuple[int, int], name: str = "") -> Report:
        rows, columns = size
        case = Case(f"{rows}x{columns}", {"N": rows, "D": columns})
        device = this_device("cuda:0")
        job = v0_job(device, load_problem(SOFTMAX), "triton", tmp_path / "scratch", PROTOCOL)
        if name:
            trick = read(TRICKS / "cheats" / "triton" / f"{name}.py", TRICKS)
            job = replace(job, candidate=trick.source)
        return service.evaluate(replace(job, cases=(case,)))

    return judge


def speed(report: Report) -> float:
    """How many times faster the candidate seems than the honest kernel, by what decides."""
    (case,) = report.cases
    assert case.candidate is not None
    assert case.incumbent is not None
    incumbent, candidate = (
        median(decisive_samples(case, arm)) for arm in (case.incumbent, case.candidate)
    )
    return incumbent / candidate


def tell(name: str, size: tuple[int, int], report: Report) -> None:
    """One line of the table."""
    times = [
        f"{arm.timer} {median(arm.samples_us):.3f} µs (device {arm.device_us})"
        for case in report.cases
        for arm in (case.incumbent, case.candidate)
        if arm is not None
    ]
    words = f"{speed(report):.3f}x, {', '.join(times)}" if times else report.reason[:160]
    print(f"\n{name} {size[0]}x{size[1]}: {report.outcome}: {words}")


@pytest.mark.parametrize("size", SIZES)
def test_an_honest_kernel_is_timed_in_a_chain(judged, size):
    report = judged(size)
    tell("honest", size, report)
    assert report.outcome is Outcome.PASSED, report.reason + report.runner_log
    (case,) = report.cases
    assert case.candidate.timer is case.incumbent.timer is Timer.GRAPH
    assert 1 / NOISE - 0.02 < speed(report) < NOISE + 0.02
    assert case.candidate.nodes == case.candidate.long_calls


@pytest.mark.parametrize("size", SIZES)
def test_calls_that_overlap_are_refused_or_take_the_honest_time(judged, size):
    report = judged(size, "overlap_on_side_streams")
    tell("overlapping", size, report)
    assert report.outcome is not Outcome.BROKEN_HOST, report.reason
    assert report.outcome is not Outcome.PASSED or speed(report) < NOISE + 0.02


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["own_stream", "own_stream_that_forks"])
def test_outputs_are_complete_in_the_order_of_the_calls_stream(judged, size, name):
    report = judged(size, name)
    tell(name, size, report)
    assert report.outcome is Outcome.WRONG_RESULT, report.reason
    assert "outside of the order of the stream" in report.reason
