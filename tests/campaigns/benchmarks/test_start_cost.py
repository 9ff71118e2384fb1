"""A fork of the zygote against a fresh interpreter."""

import pytest

from campaigns.benchmarks import start_cost
from campaigns.benchmarks.start_cost import StartCostError, StartCosts, compare_starts, to_markdown
from campaigns.devices.discover import Device
from campaigns.evaluator.contract import Outcome, Phase, Report
from campaigns.shipped import problem_folder

CPU = Device("cpu", "cpu", "Some CPU", "cpu-1", "native", 1, "cpu-1")
COSTS = StartCosts(
    device="cpu",
    device_name="Some CPU",
    measured_at="2026-05-04T03:02:01+00:00",
    problem="vector_add",
    backend="cpp",
    zygote_s=1.5,
    fresh_s=(2.0, 2.2, 2.0, 1.9, 2.0),
    start_s=(0.2, 0.2, 0.2, 0.2, 0.2),
    checked_s=(0.4, 0.4, 0.5, 0.4, 0.4),
    versions={"torch": "2.13.0"},
)


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
    monkeypatch.setattr(start_cost, "EvaluatorService", FakeService)
    monkeypatch.setattr(start_cost, "_seconds", lambda work: (2.0, "2.13.0\n"))
    monkeypatch.setattr(FakeService, "outcome", Outcome.PASSED)
    return FakeService


def test_it_alternates_and_leaves_the_zygotes_own_start_out(service):
    said = []
    costs = compare_starts(CPU, problem_folder("vector_add"), 5, said.append)
    assert costs.fresh_s == (2.0,) * 5
    assert len(costs.start_s) == len(costs.checked_s) == len(said) == 5
    pairs = zip(costs.start_s, costs.checked_s, strict=True)
    assert all(start <= checked for start, checked in pairs)
    jobs = service.last.jobs
    assert len(jobs) == 6
    assert not any(job.timed for job in jobs)
    assert {job.backend for job in jobs} == {"cpp"}


def test_it_counts_no_start_that_failed(service):
    service.outcome = Outcome.CRASHED
    with pytest.raises(StartCostError, match="evaluation first: crashed: because"):
        compare_starts(CPU, problem_folder("vector_add"), 5, print)


def test_it_names_baseline_count_and_interval_beside_the_ratio():
    assert COSTS.ratio.gain == pytest.approx(9.0)
    text = to_markdown(COSTS)
    assert "takes 10.0 times as long as a fork** (95 % interval" in text
    assert "5 pairs in alternation, baseline: the fork" in text
    assert "2.000 2.200 2.000 1.900 2.000" in text


def test_it_passes_on_why_a_fresh_interpreter_failed():
    with pytest.raises(StartCostError, match="fresh interpreter: ValueError: no torch"):
        start_cost._seconds("raise ValueError('no torch')")
