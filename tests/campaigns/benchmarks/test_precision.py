"""The pair of kernels whose gain is known, and the report on the judge's clock."""

from __future__ import annotations

import re
from argparse import Namespace
from dataclasses import replace

import pytest

from campaigns.benchmarks import precision
from campaigns.benchmarks.harness import BenchmarkError
from campaigns.benchmarks.precision import CHAIN, SLOWER, Reading, chain_job, chain_source
from campaigns.devices.discover import this_device
from campaigns.devices.launch import EvaluatorService
from campaigns.evaluator.contract import Outcome
from campaigns.rules.verdict.decision import VerdictWord

BACKENDS = ("cpp", "cuda", "triton")
OPTIONS = Namespace(
    device="cpu",
    problem=[str(CHAIN)],
    backend=["cpp"],
    sessions=1,
    same=1,
    known=1,
    burst_ms=None,
    limit_s=900,
)


@pytest.mark.judged
@pytest.mark.parametrize("backend", ["cpp", "triton"])
def test_both_kernels_of_a_known_gain_are_right(backend, tmp_path):
    job = chain_job(this_device("cpu"), backend, tmp_path / "scratch", 2000, SLOWER)
    assert job.candidate.text.replace("2000", "2060") == job.incumbent.text
    with EvaluatorService() as service:
        # Triton's interpreter takes milliseconds for a step.
        for steps in (20, 21):
            shorter = chain_source(backend, steps)
            report = service.evaluate(replace(job, candidate=shorter, incumbent=None, timed=False))
            assert report.outcome is Outcome.PASSED, report.reason


@pytest.mark.parametrize("backend", BACKENDS)
def test_chains_differ_in_their_steps_only(backend):
    texts = {steps: chain_source(backend, steps).text for steps in (150, 2000, 2060)}
    assert len(set(texts.values())) == 3
    same = {re.sub(rf"\b{steps}\b", "N", text) for steps, text in texts.items()}
    assert len(same) == 1


def reading(**changes):
    whole = Reading(
        "softmax", "cuda", "4096x4096", "graph", 101.0, 100.0, 103.0, 102.0, 100.0, 0.005
    )
    return replace(whole, **changes)


def written(readings, same=(), known=()):
    report = precision.report_of(this_device("cpu"), readings, same, known)
    return report.as_markdown()


def test_it_counts_and_sizes_what_was_found():
    same = ("softmax, cuda", VerdictWord.NO_CHANGE, 0.002)
    known = ("chain, cuda", VerdictWord.ACCEPTED, 0.031)
    missed = ("chain, cuda", VerdictWord.NO_CHANGE, 0.012)
    worse = ("softmax, cuda", VerdictWord.REJECTED, -0.02)
    text = written([reading()], [same, worse], [known, known, missed])
    assert "1 of 2 comparisons of a kernel with itself showed no change." in text
    assert "True gains of 3%: 2 of 3 found." in text
    assert "| softmax, cuda | 2 | 1 no change, 1 rejected | -2.00% to +0.20% |" in text
    assert "| 3 | 2 accepted, 1 no change | +1.20% to +3.10% |" in text


@pytest.mark.judged
def test_it_reads_kernels_and_compares_each_in_turn():
    said = []
    report = precision.measure_precision(OPTIONS, said.append)
    clock, same, known = report.tables
    assert [(row["problem"], row["case"]) for row in clock.rows] == [("chain", "declared")]
    assert clock.rows[0]["slope µs"] > 0
    assert [row["kernel"] for row in same.rows] == ["chain, cpp, declared"]
    assert [row["kernel"] for row in known.rows] == ["chain, cpp, 2000 steps"]
    assert said[0] == "chain cpp: 1 cases read"


@pytest.mark.judged
def test_it_reports_what_it_has_compared_when_the_time_is_over():
    late = Namespace(**vars(OPTIONS) | {"limit_s": 0.0})
    report = precision.measure_precision(late, print)
    assert [len(table.rows) for table in report.tables] == [1, 0, 0]
    assert "0 of 0 found" in report.verdict


def test_it_refuses_a_choice_without_a_kernel():
    with pytest.raises(BenchmarkError, match="no kernel of them is timed on this device"):
        precision.measure_precision(Namespace(**vars(OPTIONS) | {"backend": ["hip"]}), print)


def test_it_holds_a_slope_against_tracer_events_and_itself():
    row = "| 101 | 100–103 | 0.50% | 100 | +1.00% | 102 | -0.98% |"
    assert row in written([reading()])
    alone = reading(device_us=None, event_us=None)
    assert "| – | – | – | – |" in written([alone])
    assert "Clock:" not in written([alone])


def test_it_says_how_many_kernels_agree_with_device_time():
    near = reading(device_us=100.5, repeats_within=0.002)
    far = replace(near, event_us=103.0, device_us=101.5, repeats_within=0.003)
    short = replace(near, slope_us=10.0, event_us=20.0, repeats_within=0.0)
    text = written([near, far, short])
    assert "over 20 µs 1 of 2 are within 1% of the device's events, 2 of 2 of the" in text
    assert "sessions are within 0.30%" in text
