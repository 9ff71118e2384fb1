"""What is measured of a device itself: its noise passport, and its ceilings.

A noise passport is a kernel against itself, at a few lengths, a few times over.
"""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from campaigns.devices import nvml
from campaigns.devices.discover import Device, ensure_platform, platform_facts
from campaigns.devices.hold import hold
from campaigns.devices.launch import Beat, EvaluatorService, InterpreterFailed, ask_interpreter
from campaigns.evaluator.contract import Case, Job, Outcome, Protocol, Report, Source
from campaigns.evaluator.contract.ceilings import CeilingsError, Result, load, to_markdown
from campaigns.evaluator.contract.problem import ProblemSpec
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.problems.shipped import problem_folder
from campaigns.rules.noise.gain import both_arms
from campaigns.rules.noise.passport import Conditions, Length, conditions_of, failures, lengths_of
from knowledge.exchange.importer import MEASURED, write_measured_document
from knowledge.models import Revision

PROTOCOLS = {
    "cpu": Protocol(blocks=5, burst_ms=10, max_slots=64, arena_mib=1024, trials=1),
    "gpu": Protocol(blocks=5, trials=1),
}
# Vector addition takes as long as its vectors are long, and hardly depends on the compiler.
PROBLEM = "vector_add"
BACKEND = {"cpu": "cpp", "gpu": "triton"}
# From a few µs to a ms or two. On a CPU a burst has 64 calls at the most: little for the shortest.
SIZES = {"cpu": (2**14, 2**17, 2**20), "gpu": (2**18, 2**21, 2**24)}
SESSIONS = 4
# How often a session is tried on a host that was too busy to be a clock, as often as a campaign's.
TRIES = 3
SEED = 7


class PassportFails(RuntimeError):
    """A session that did not pass; the message says why."""


# What runs a job; tests have a fake of it.
Measurer = EvaluatorService


@dataclass(frozen=True, slots=True)
class Taken:
    """A passport's contents, with the sessions that they come from."""

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
    """Measure v0 against itself; the caller holds the device. beat: as of `EvaluatorService`.

    Raises PassportFails.
    """
    spec = load_problem(problem_folder(PROBLEM))
    job = replace(
        v0_job(device, spec, BACKEND[device.kind], scratch, PROTOCOLS[device.kind]),
        cases=tuple(Case(f"{PROBLEM} {size}", {"N": size}) for size in SIZES[device.kind]),
    )
    sessions = []
    for number in range(1, SESSIONS + 1):
        sessions.append(_session(device, service, job, beat))
        tell(f"session {number} of {SESSIONS}")
    lengths, conditions = lengths_of(sessions, SEED), conditions_of(sessions)
    return Taken(lengths, conditions, failures(lengths, conditions), tuple(sessions))


def _session(device: Device, service: Measurer, job: Job, beat: Beat | None) -> Report:
    """One that can be evaluated: a slope at or below zero is no time. Raises PassportFails."""
    what, no_time = f"{PROBLEM}, {job.backend}", ""
    for _ in range(TRIES):
        report = service.evaluate(job, beat)
        if report.outcome is not Outcome.PASSED:
            raise PassportFails(f"{what}: {report.outcome.value}: {report.reason}")
        if any(case.candidate is None or case.incumbent is None for case in report.cases):
            raise PassportFails(f"{what}: was not timed on {device.name}")
        least = {c.case: min(us for a in both_arms(c) for us in a.samples_us) for c in report.cases}
        none = [f"{name}: a time of {us:,.1f} µs" for name, us in least.items() if us <= 0]
        if not none:
            return report
        no_time = none[0]
    raise PassportFails(f"{what}, {no_time}; the host is too busy to measure on")


def v0_job(
    device: Device, spec: ProblemSpec, backend: str, scratch: Path, protocol: Protocol
) -> Job:
    """v0 against itself on every case of the device's kind."""
    name = spec.files[backend]
    source = Source(name, (spec.folder / name).read_text(), spec.flags.get(backend, ()))
    return Job(
        job_id=scratch.name,
        problem=spec.folder,
        backend=backend,
        device=device.device,
        target=device.target,
        cases=tuple(case.case for case in spec.cases_of(backend, device.kind)),
        candidate=source,
        incumbent=source,
        scratch=scratch,
        protocol=protocol,
    )


GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")


def host_facts(device: Device) -> Mapping[str, str]:
    """Host, kernel, clock policy and, for a GPU, its driver; read now."""
    facts = {"host": platform.node(), "kernel": platform.release()}
    if device.kind == "gpu":
        driver = device.detail.get("driver", "")
        return facts | {"driver": driver, "clock policy": nvml.clock_policy(device.uuid)}
    try:
        policy = f"governor {GOVERNOR.read_text().strip()}"
    except OSError:
        policy = "fixed or hidden by the hypervisor"
    return facts | {"clock policy": policy, "CPUs usable": device.detail.get("CPUs usable", "")}


CEILINGS_LIMIT_S = 300
HOLD_WAIT_S = 5.0


@dataclass(frozen=True, slots=True)
class Measured:
    """The stored document, and what weakens its ceilings: each note is one line of it, too."""

    revision: Revision
    notes: tuple[str, ...]


def measure_ceilings(device: Device) -> Measured:
    """Measure now, store `docs/measured/<platform>.md`, answer its newest revision.

    Raises CeilingsError when it cannot be measured and DeviceBusy when another process holds the
    device; then nothing is stored.
    """
    platform = ensure_platform(device)
    result = measured_now(device)
    # A GPU's platform may come from a wiki document; only that one may describe it.
    block = str(platform_facts(device)) if device.kind == "cpu" else f"- platform: {platform.slug}"
    path = f"{MEASURED}{platform.slug}.md"
    return Measured(write_measured_document(path, to_markdown(result, block)), result.notes)


def measured_now(device: Device, array_bytes: int | None = None) -> Result:
    """Measure the device and store nothing. array_bytes: copies between two such arrays alone.

    Raises CeilingsError and DeviceBusy.
    """
    with hold(device, wait_s=HOLD_WAIT_S):
        return run_ceilings(device.device, array_bytes)


def run_ceilings(device: str, array_bytes: int | None = None) -> Result:
    """The measurement itself: a fresh interpreter, so that this process never starts CUDA."""
    arguments = ["-m", "campaigns.evaluator.ceilings", "--device", device, "--json"]
    if array_bytes is not None:
        arguments += ["--array-bytes", str(array_bytes)]
    try:
        return load(ask_interpreter(arguments, CEILINGS_LIMIT_S))
    except subprocess.TimeoutExpired:
        raise CeilingsError(f"{device}: not measured within {CEILINGS_LIMIT_S} s") from None
    except InterpreterFailed as error:
        raise CeilingsError(str(error).removeprefix("ceilings: ")) from None
