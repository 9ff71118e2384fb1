"""Take a noise passport: a kernel against itself, at a few lengths, a few times over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from campaigns.devices.discover import Device
from campaigns.devices.launch import Beat
from campaigns.devices.precision import CPU_PROTOCOL, GPU_PROTOCOL
from campaigns.devices.v0 import v0_job
from campaigns.evaluator.contract import Case, Job, Outcome, Report
from campaigns.evaluator.problem import load_problem
from campaigns.rules.passport import (
    Conditions,
    Length,
    conditions_of,
    failures,
    lengths_of,
)
from campaigns.shipped import problem_folder

# Vector addition takes as long as its vectors are long, and hardly depends on the compiler.
PROBLEM = "vector_add"
BACKEND = {"cpu": "cpp", "gpu": "triton"}
# From a few µs to a ms or two. On a CPU a burst has 64 calls at the most: little for the shortest.
SIZES = {"cpu": (2**14, 2**17, 2**20), "gpu": (2**18, 2**21, 2**24)}
SESSIONS = 4
SEED = 7


class PassportFails(RuntimeError):
    """A session that did not pass; the message says why."""


class Measurer(Protocol):
    """What runs a job: `campaigns.devices.launch.EvaluatorService`, or a fake of it."""

    def evaluate(self, job: Job, beat: Beat | None = None) -> Report: ...


@dataclass(frozen=True, slots=True)
class Taken:
    """A passport's contents, with the sessions that they come from."""

    backend: str
    lengths: tuple[Length, ...]
    conditions: Conditions
    failures: tuple[str, ...]
    sessions: tuple[Report, ...]


def take(
    device: Device,
    service: Measurer,
    scratch: Path,
    beat: Beat | None = None,
    tell: Callable[[str], None] = lambda message: None,
) -> Taken:
    """Measure now; the caller holds the device. beat: as in `EvaluatorService.evaluate`.

    Raises PassportFails.
    """
    backend = BACKEND[device.kind]
    job = aa_job(device, backend, scratch)
    sessions = []
    for number in range(1, SESSIONS + 1):
        report = service.evaluate(job, beat)
        if report.outcome is not Outcome.PASSED:
            raise PassportFails(f"{PROBLEM}, {backend}: {report.outcome.value}: {report.reason}")
        if any(case.candidate is None or case.incumbent is None for case in report.cases):
            raise PassportFails(f"{PROBLEM}, {backend}: was not timed on {device.name}")
        sessions.append(report)
        tell(f"session {number} of {SESSIONS}")
    lengths, conditions = lengths_of(sessions, SEED), conditions_of(sessions)
    return Taken(backend, lengths, conditions, failures(lengths, conditions), tuple(sessions))


def aa_job(device: Device, backend: str, scratch: Path) -> Job:
    """The shipped v0 against itself at each of the lengths."""
    protocol = CPU_PROTOCOL if device.kind == "cpu" else GPU_PROTOCOL
    job = v0_job(device, load_problem(problem_folder(PROBLEM)), backend, scratch, protocol)
    cases = tuple(Case(f"{PROBLEM} {size}", {"N": size}) for size in SIZES[device.kind])
    return replace(job, cases=cases)
