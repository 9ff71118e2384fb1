"""A fork of the zygote against a fresh interpreter."""

from argparse import Namespace

import pytest

from campaigns.benchmarks import start
from campaigns.benchmarks.harness import BenchmarkError
from campaigns.evaluator.contract import Outcome, Phase, Report

OPTIONS = Namespace(device="cpu", problem="vector_add", repeats=5)


class FakeService:
    """Answers evaluations without a process."""

    outcome = Outcome.PASSED

    def __enter__(self):
        self.jobs = []
        FakeService.last = self
        return self

    def __exit__(self, *error):
        return None

    def evaluate(self, job, beat):
        self.jobs.append(job)
        beat("start")
        beat("build ")
        return Report(job.job_id, self.outcome, Phase.DONE, "because")


@pytest.fixture
def service(monkeypatch):
    monkeypatch.setattr(start, "EvaluatorService", FakeService)
    monkeypatch.setattr(start, "_fresh", lambda device: 2.0)
    monkeypatch.setattr(FakeService, "outcome", Outcome.PASSED)
    return FakeService


def test_it_alternates_and_leaves_the_zygotes_own_start_out(service):
    said = []
    report = start.compare_starts(OPTIONS, said.append)
    fresh, forked, whole, zygote = report.tables[0].rows
    assert fresh["samples s"] == [2.0] * 5
    assert len(forked["samples s"]) == len(whole["samples s"]) == len(said) == 5
    assert len(zygote["samples s"]) == 1
    assert "5 pairs in alternation); the baseline is the fork" in report.verdict
    jobs = service.last.jobs
    assert len(jobs) == 6
    assert not any(job.timed for job in jobs)
    assert {job.backend for job in jobs} == {"cpp"}


def test_it_counts_no_start_that_failed(service):
    service.outcome = Outcome.CRASHED
    with pytest.raises(BenchmarkError, match="evaluation first: crashed: because"):
        start.compare_starts(OPTIONS, print)


def test_it_passes_on_why_a_fresh_interpreter_failed(monkeypatch):
    def fail(arguments, limit_s):
        raise start.InterpreterFailed("ValueError: no torch")

    monkeypatch.setattr(start, "ask_interpreter", fail)
    with pytest.raises(BenchmarkError, match="fresh interpreter: ValueError: no torch"):
        start._fresh(start.this_device("cpu"))
