"""Jobs that explain a candidate beside its trial: sanitizers, machine code, hardware counters.

Each is an evaluation of its own, in which nothing is timed.
"""

from __future__ import annotations

import shutil
import statistics
from dataclasses import replace
from typing import Any

from campaigns.devices.launch import Beat
from campaigns.devices.passport import Measurer
from campaigns.evaluator.contract import Job, MachineCode, Profile, Report, Sanitized
from campaigns.evaluator.contract.programs import NCU, PERF
from campaigns.profiles import perf
from campaigns.profiles.metrics import DEFAULT_COUNTERS

LEAST_SLOTS = 2


def sanitize(job: Job, service: Measurer, beat: Beat | None = None) -> tuple[Sanitized, ...]:
    """What the sanitizers of this host say of the job's candidate on its smallest case.

    Where they could not be run at all, that is the one thing said. What `beat` raises is passed on.
    """
    report = service.evaluate(_alone(job, sanitize=True), beat)
    return report.sanitized or (Sanitized("sanitizers", False, note=report.reason),)


def count_kernels(
    job: Job, report: Report | None, service: Measurer, beat: Beat | None = None
) -> Profile | None:
    """What a profiler counts of the candidate on the case that takes it longest.

    report: of its trial; without one the first case is taken. None where no profiler could: on a
    CPU, perf counts C++ alone. A note says why there is nothing where one might. What `beat` raises
    is passed on.
    """
    on_cpu = job.device == "cpu"
    if on_cpu and (job.backend != "cpp" or shutil.which(PERF) is None):
        return None
    times_us = {
        case.case: statistics.median(case.candidate.samples_us)
        for case in (report.cases if report else ())
        if case.candidate
    }
    longest = max(job.cases, key=lambda case: times_us.get(case.name, 0.0))
    counters = perf.DEFAULT_COUNTERS if on_cpu else DEFAULT_COUNTERS
    found = service.evaluate(_alone(job, counters=counters, cases=(longest,)), beat)
    return found.profile or Profile(PERF if on_cpu else NCU, longest.name, note=found.reason)


def read_code(
    job: Job, service: Measurer, beat: Beat | None = None, form: str = "machine"
) -> MachineCode:
    """What the job's candidate becomes when it is built for the job's target. form: or "ptx".

    Triton's compiler needs no device, so none is used. Where nothing can be read the note says why.
    What `beat` raises is passed on.
    """
    asked = _alone(
        job,
        read_code=form,
        device="cpu" if job.backend == "triton" else job.device,
        cases=job.cases[:1],
        # Nothing is called, so there is no need of much memory to call it on.
        protocol=replace(job.protocol, max_slots=LEAST_SLOTS),
    )
    report = service.evaluate(asked, beat)
    return report.machine_code or MachineCode("", note=report.reason)


def _alone(job: Job, **more: Any) -> Job:
    return replace(job, incumbent=None, rivals=(), timed=False, **more)
