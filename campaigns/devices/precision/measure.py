"""Read the shipped v0 kernels several times, compare one with itself, and find a known gain."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from campaigns.devices.discover import Device
from campaigns.devices.launch import EvaluatorService
from campaigns.devices.precision.known_gain import GAIN, STEPS, known_job, write_problem
from campaigns.devices.v0 import v0_job
from campaigns.evaluator.contract import CaseReport, Job, Outcome, Protocol, Report, Timing
from campaigns.evaluator.problem import ProblemSpec
from campaigns.rules.decision import Verdict
from campaigns.rules.gates import Standard
from campaigns.rules.noise import noise_floor
from campaigns.rules.verdict import decide

CPU_PROTOCOL = Protocol(blocks=5, burst_ms=10, max_slots=64, arena_mib=1024, trials=1)
GPU_PROTOCOL = Protocol(blocks=5, trials=1)


class PrecisionError(RuntimeError):
    """A v0 that did not pass; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One kernel on one case, in microseconds per call.

    slope_us, event_us, device_us: medians over the sessions. medians_us: of each session's slopes.
    low_us, high_us: the 10th and 90th percentile of all samples.
    """

    problem: str
    backend: str
    case: str
    timer: str
    slope_us: float
    low_us: float
    high_us: float
    event_us: float | None
    device_us: float | None
    medians_us: tuple[float, ...]
    samples_us: tuple[float, ...]

    @property
    def repeats_within(self) -> float:
        """How far a session's median is from the median of all, as a share of it."""
        return max(abs(one / self.slope_us - 1) for one in self.medians_us)


@dataclass(frozen=True, slots=True)
class Compared:
    """What the rules said of one kernel against another, or against itself.

    event_gain: the same by CUDA events around the graphs, where there are such.
    """

    verdict: str
    reason: str
    gain: float
    low: float
    high: float
    event_gain: float | None = None


@dataclass(frozen=True, slots=True)
class Precision:
    device: str
    measured_at: str
    readings: tuple[Reading, ...]
    same: tuple[Compared, ...]
    same_kernel: str
    known: tuple[Compared, ...]
    known_kernel: str
    environment: dict[str, str]

    @property
    def shown(self) -> int:
        """How many A/A comparisons claimed a change."""
        return sum(one.verdict != Verdict.NO_CHANGE for one in self.same)

    @property
    def found(self) -> int:
        """How many of the known gains were found."""
        return sum(one.verdict == Verdict.ACCEPTED for one in self.known)


@dataclass(frozen=True, slots=True)
class Amounts:
    """Sessions in which each kernel is read, A/A comparisons, and comparisons with a known gain."""

    sessions: int
    same: int
    known: int


def measure_precision(
    device: Device,
    kernels: Iterable[tuple[ProblemSpec, str]],
    amounts: Amounts,
    progress: Callable[[str], None],
) -> Precision:
    """Read every kernel; compare the first one with itself, and one of its backend with a slower.

    Raises PrecisionError.
    """
    listed = list(kernels)
    readings: list[Reading] = []
    environment: dict[str, str] = {"python": platform.python_version()}
    protocol = CPU_PROTOCOL if device.kind == "cpu" else GPU_PROTOCOL
    with TemporaryDirectory(prefix="kopt-bench-") as folder, EvaluatorService() as service:
        scratch = Path(folder) / "scratch"
        for spec, backend in listed:
            job = v0_job(device, spec, backend, scratch, protocol)
            reports = [_evaluate(service, job) for _ in range(amounts.sessions)]
            environment.update(_told(reports[0]))
            readings += [_reading(spec, backend, each) for each in _by_case(reports)]
            progress(f"{spec.name} {backend}: {len(job.cases)} cases read")
        spec, backend = listed[0]
        job = v0_job(device, spec, backend, scratch, protocol)
        job = replace(job, cases=job.cases[-1:])
        same = _compared(service, job, ("A/A", amounts.same), progress)
        longer = known_job(device, write_problem(Path(folder)), backend, scratch, protocol)
        known = _compared(service, longer, ("known gain", amounts.known), progress)
    return Precision(
        device=device.name,
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        readings=tuple(readings),
        same=same,
        same_kernel=f"{spec.name}, {backend}, {job.cases[0].name}",
        known=known,
        known_kernel=f"{backend}, {STEPS} steps against {1 + GAIN:g} times as many",
        environment=environment,
    )


def _told(report: Report) -> dict[str, str]:
    """The environment without what the sandbox refused, which says nothing about time."""
    return {name: value for name, value in report.environment.items() if name != "refused"}


def _by_case(reports: Sequence[Report]) -> Iterable[tuple[CaseReport, ...]]:
    return zip(*(report.cases for report in reports), strict=True)


def _compared(
    service: EvaluatorService,
    job: Job,
    what: tuple[str, int],
    progress: Callable[[str], None],
) -> tuple[Compared, ...]:
    """what: a name, and how often."""
    (name, times), found = what, []
    for number in range(1, times + 1):
        found.append(_judged(_evaluate(service, job)))
        progress(f"{name} {number}/{times}: {found[-1].verdict} ({found[-1].gain:+.2%})")
    return tuple(found)


def _evaluate(service: EvaluatorService, job: Job) -> Report:
    report = service.evaluate(job)
    if report.outcome is not Outcome.PASSED:
        raise PrecisionError(f"{job.problem.name}: {report.outcome}: {report.reason}")
    return report


def _reading(spec: ProblemSpec, backend: str, cases: Sequence[CaseReport]) -> Reading:
    """cases: the same one in every session."""
    timings = [_timed(case.candidate) for case in cases]
    medians = [median(timing.samples_us) for timing in timings]
    ordered = sorted(us for timing in timings for us in timing.samples_us)
    return Reading(
        problem=spec.name,
        backend=backend,
        case=cases[0].case,
        timer=str(timings[0].timer),
        slope_us=median(medians),
        low_us=ordered[len(ordered) // 10],
        high_us=ordered[-1 - len(ordered) // 10],
        event_us=_median([timing.event_us for timing in timings]),
        device_us=_median([timing.device_us for timing in timings]),
        medians_us=tuple(medians),
        samples_us=tuple(us for timing in timings for us in timing.samples_us),
    )


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _timed(timing: Timing | None) -> Timing:
    if timing is None:
        raise PrecisionError("a case was not timed")
    return timing


def _judged(report: Report) -> Compared:
    decision = decide(report, Standard(has_incumbent=True, noise=noise_floor(0.0)))
    gain = decision.gain
    if gain is None:
        raise PrecisionError(f"a comparison: {decision.sentence}")
    case = report.cases[0]
    new, old = (_timed(arm).event_us for arm in (case.candidate, case.incumbent))
    return Compared(
        verdict=str(decision.verdict),
        reason=str(decision.reason),
        gain=gain.gain,
        low=gain.low,
        high=gain.high,
        event_gain=old / new - 1 if old and new else None,
    )
