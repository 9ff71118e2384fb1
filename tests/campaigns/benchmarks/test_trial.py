"""What a verdict costs: the kernels that are timed, and what is said of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from campaigns.benchmarks.harness import BenchmarkError
from campaigns.benchmarks.trial import (
    AGAINST,
    ALONE,
    COUNTED,
    PHASES,
    SPOILT,
    WRONG,
    Timed,
    counted,
    medians,
    trials_of,
)
from campaigns.devices.discover import this_device
from campaigns.devices.passport import PROTOCOLS, v0_job
from campaigns.evaluator.contract import Outcome, Phase, Profile, Report
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.problems.shipped import problem_folder


@pytest.mark.parametrize("backend", SPOILT)
def test_the_wrong_kernel_is_the_right_one_but_for_one_line(backend, tmp_path):
    spec = load_problem(problem_folder("softmax"))
    both = v0_job(this_device("cpu"), spec, backend, tmp_path, PROTOCOLS["cpu"])
    jobs = trials_of(both)
    pairs = zip(
        both.candidate.text.splitlines(), jobs[WRONG].candidate.text.splitlines(), strict=True
    )
    assert sum(one != other for one, other in pairs) == 1
    assert jobs[ALONE].incumbent is None
    assert jobs[AGAINST].incumbent == jobs[AGAINST].candidate


def test_it_gives_the_medians_of_each_phase_and_what_they_leave():
    timed = [
        Timed("cpp", ALONE, {Phase.CHECK: check_s}, 2 * check_s) for check_s in (1.0, 3.0, 2.0)
    ]
    (one,) = medians([*timed])
    assert one.row()["check s"] == 2.0
    assert one.row()["whole s"] == 4.0
    assert one.row()["rest s"] == 2.0
    assert len(one.wall_s) == len(PHASES)


class Profiling:
    """A service that finds this profile."""

    def __init__(self, profile):
        self.profile, self.jobs = profile, []

    def evaluate(self, job, beat=None):
        self.jobs.append(job)
        return Report(job.job_id, Outcome.PASSED, Phase.DONE, "", profile=self.profile)


@pytest.fixture
def cuda_job(tmp_path):
    spec = load_problem(problem_folder("softmax"))
    job = v0_job(this_device("cpu"), spec, "cpp", tmp_path, PROTOCOLS["cpu"])
    return replace(job, backend="cuda", device="cuda:0")


def test_a_kernel_is_counted_alone_and_so_often(cuda_job):
    service = Profiling(Profile("ncu", "a", "what ncu wrote"))
    assert [one.kind for one in counted(service, cuda_job, 2)] == [COUNTED, COUNTED]
    assert [one.incumbent for one in service.jobs] == [None, None]


def test_what_is_not_counted_has_no_time(cuda_job):
    service = Profiling(Profile("ncu", "a", note="the driver hides counters"))
    with pytest.raises(BenchmarkError, match="the driver hides counters"):
        counted(service, cuda_job, 2)
    assert len(service.jobs) == 1
