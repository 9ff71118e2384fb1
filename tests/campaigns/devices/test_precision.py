"""The pair of kernels whose gain is known, and the report on the judge's clock."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from campaigns.devices.discover import this_device
from campaigns.devices.launch import EvaluatorService
from campaigns.devices.precision.known_gain import LENGTHS, chain_job, known_job, write_problem
from campaigns.devices.precision.measure import (
    CPU_PROTOCOL,
    Amounts,
    Compared,
    Precision,
    Reading,
    measure_precision,
)
from campaigns.devices.precision.page import to_markdown
from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.problem import load_problem


@pytest.fixture(scope="module")
def service():
    with EvaluatorService() as running:
        yield running


@pytest.mark.parametrize("backend", ["cpp", "triton"])
def test_both_kernels_of_a_known_gain_are_right(service, backend, tmp_path):
    problem, scratch = write_problem(tmp_path), tmp_path / "scratch"
    job = known_job(this_device("cpu"), problem, backend, scratch, CPU_PROTOCOL)
    assert job.incumbent is not None
    for source in (job.candidate, job.incumbent):
        # Triton's interpreter takes milliseconds for a step.
        shorter = replace(source, text=re.sub(r"\b20[06]0\b", "20", source.text))
        assert shorter != source
        one = replace(job, candidate=shorter, incumbent=None, timed=False)
        report = service.evaluate(one)
        assert report.outcome is Outcome.PASSED, report.reason


def test_the_slower_one_does_three_percent_more(tmp_path):
    for backend in ("cpp", "cuda", "triton"):
        device = this_device("cpu")
        job = known_job(device, tmp_path, backend, tmp_path / "scratch", CPU_PROTOCOL)
        assert job.incumbent is not None
        assert job.candidate.text.replace("2000", "2060") == job.incumbent.text


def test_chains_of_every_length_differ_in_their_steps_only(tmp_path):
    device = this_device("cpu")
    for backend in ("cpp", "cuda", "triton"):
        jobs = [
            chain_job(device, tmp_path, backend, tmp_path / "scratch", CPU_PROTOCOL, steps)
            for steps in LENGTHS
        ]
        assert all(job.candidate == job.incumbent for job in jobs)
        texts = {re.sub(r"\b150+\b", "150", job.candidate.text) for job in jobs}
        assert len(texts) == 1
        names = [job.cases[0].name for job in jobs]
        assert names == [f"{steps} steps" for steps in LENGTHS]


def precision(**changes):
    reading = Reading(
        problem="softmax",
        backend="cuda",
        case="4096x4096",
        timer="graph",
        slope_us=101.0,
        low_us=100.0,
        high_us=103.0,
        event_us=102.0,
        device_us=100.0,
        medians_us=(100.5, 101.0, 101.2),
        samples_us=(100.5, 101.0, 101.2),
    )
    same = Compared("softmax, cuda", "no_change", "within_noise", 0.002, -0.01, 0.01)
    known = Compared("chain, cuda", "accepted", "promoted", 0.031, 0.02, 0.04, event_gain=0.029)
    missed = replace(known, verdict="no_change", gain=0.012)
    whole = Precision(
        device="a card",
        measured_at="today",
        readings=(reading,),
        same=(same, replace(same, verdict="rejected", gain=-0.02)),
        known=(known, known, missed),
        environment={"torch": "2.11"},
    )
    return replace(whole, **changes)


def test_it_counts_and_sizes_what_was_found():
    text = to_markdown(precision())
    assert "1 of 2 comparisons of a kernel with itself showed no change." in text
    assert "2 of 3 found." in text
    same = "| softmax, cuda | itself | 2 | 1 no change, 1 rejected | -2.00% to +0.20% | – |"
    assert same in text
    known = "| 2 accepted, 1 no change | +1.20% to +3.10% | +2.90% to +2.90% |"
    assert f"| chain, cuda | a known gain | 3 {known}" in text


@pytest.mark.judged
def test_it_reads_kernels_and_compares_each_in_turn(tmp_path):
    said = []
    kernels = [(load_problem(write_problem(tmp_path)), "cpp")]
    found = measure_precision([this_device("cpu")], kernels, Amounts(1, 1, 1), said.append)
    (reading,) = found.readings
    assert (reading.problem, reading.case) == ("chain", "declared")
    assert reading.slope_us > 0
    assert [one.kernel for one in found.same] == ["chain, cpp, declared"]
    assert [one.kernel for one in found.known] == ["cpp, 2000 steps against 1.03 times as many"]
    assert said[0] == "chain cpp: 1 cases read"
    assert "refused" not in found.environment


@pytest.mark.judged
def test_it_reports_what_it_has_compared_when_the_time_is_over(tmp_path):
    kernels = [(load_problem(write_problem(tmp_path)), "cpp")]
    found = measure_precision([this_device("cpu")], kernels, Amounts(1, 2, 1, 0.0), print)
    assert (len(found.readings), found.same, found.known) == (1, (), ())
    assert "0 of 0 found" in to_markdown(found)


def test_it_holds_a_slope_against_tracer_events_and_itself():
    text = to_markdown(precision())
    row = "| 101.00 (100.00–103.00) | 0.50% | 100.00 | +1.00% | 102.00 | -0.98% |"
    assert row in text
    alone = replace(precision().readings[0], device_us=None, event_us=None)
    assert "| – | – | – | – |" in to_markdown(precision(readings=(alone,), known=()))


def test_it_says_how_many_kernels_agree_with_device_time():
    near = replace(precision().readings[0], device_us=100.5)
    far = replace(near, event_us=103.0, device_us=101.5, medians_us=(101.0, 101.303))
    short = replace(near, slope_us=10.0, event_us=20.0, medians_us=(10.0, 10.0))
    text = to_markdown(precision(readings=(near, far, short)))
    assert "over 20 µs 1 of 2 are within 1% of the device's events, 2 of 2 of the" in text
    assert "sessions are within 0.50%" in text
    untold = replace(near, event_us=None, device_us=None)
    assert "Clock:" not in to_markdown(precision(readings=(untold,)))
