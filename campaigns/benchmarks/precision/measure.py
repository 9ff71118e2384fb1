"""Read v0 kernels several times, compare each with itself, and find gains that are known."""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from campaigns.benchmarks.precision.known_gain import (
    GAIN,
    LENGTHS,
    STEPS,
    chain_job,
    known_job,
    write_problem,
)
from campaigns.benchmarks.spread import Place, name_of, open_places, spread
from campaigns.devices.discover import Device
from campaigns.devices.v0 import CPU_PROTOCOL, GPU_PROTOCOL, v0_job
from campaigns.evaluator.contract import Case, CaseReport, Job, Outcome, Protocol, Report, Timing
from campaigns.evaluator.problem import ProblemSpec
from campaigns.rules.decision import Verdict
from campaigns.rules.gates import Standard
from campaigns.rules.noise import noise_floor
from campaigns.rules.verdict import decide


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

    kernel: str
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
    known: tuple[Compared, ...]
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
    """Sessions in which each kernel is read, A/A comparisons, and comparisons with a known gain.

    limit_s: after so long no comparison is begun any more.
    """

    sessions: int
    same: int
    known: int
    limit_s: float = math.inf


def measure_precision(
    devices: Sequence[Device],
    kernels: Iterable[tuple[ProblemSpec, str]],
    amounts: Amounts,
    progress: Callable[[str], None],
) -> Precision:
    """Read every kernel; compare each in turn with itself, and known gains of their backends.

    On GPUs kernels of known lengths are read as well, by each of the backends. devices: alike, each
    at work on its own; all sessions of a kernel are on one of them. Raises PrecisionError.
    """
    listed, deadline = list(kernels), time.monotonic() + amounts.limit_s
    with (
        TemporaryDirectory(prefix="kopt-bench-") as folder,
        open_places(devices, Path(folder)) as places,
    ):

        def read(kernel: Kernel, place: Place) -> tuple[Report, ...]:
            job = kernel.job_at(place)
            reports = tuple(_evaluate(job, place) for _ in range(amounts.sessions))
            progress(f"{kernel.problem} {kernel.backend}: {len(job.cases)} cases read")
            return reports

        problem = write_problem(Path(folder))
        long = _lengths(listed, problem) if places[0].device.kind == "gpu" else []
        wanted = [*(_shipped(*kernel) for kernel in listed), *long]
        reports = spread(read, wanted, places)

        def compare(name: str, some: Sequence[Asked], times: int) -> tuple[Compared, ...]:
            asked = [some[n % len(some)] for n in range(times)]
            return _compared(name, asked, places, deadline, progress)

        # The fewer ones first, should the time not suffice for all.
        known = compare("known gain", _longer(listed, problem), amounts.known)
        same = compare("A/A", _alone(listed, places[0]), amounts.same)
    return Precision(
        device=name_of(devices),
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        readings=tuple(
            _reading(kernel, cases)
            for kernel, each in zip(wanted, reports, strict=True)
            for cases in _by_case(each)
        ),
        same=same,
        known=known,
        environment=_environment(reports),
    )


@dataclass(frozen=True, slots=True)
class Kernel:
    """One to be read, on the cases of its job."""

    problem: str
    backend: str
    job_at: Callable[[Place], Job]


def _shipped(spec: ProblemSpec, backend: str) -> Kernel:
    return Kernel(spec.name, backend, lambda place: _v0((spec, backend), place))


def _lengths(kernels: Sequence[tuple[ProblemSpec, str]], problem: Path) -> list[Kernel]:
    """Chains of every length by every backend."""

    def of(backend: str, steps: int) -> Kernel:
        def job_at(place: Place) -> Job:
            return chain_job(place.device, problem, backend, *_rest(place), steps)

        return Kernel(problem.name, backend, job_at)

    return [of(backend, steps) for backend in _backends(kernels) for steps in LENGTHS]


def _backends(kernels: Sequence[tuple[ProblemSpec, str]]) -> Iterable[str]:
    return dict.fromkeys(backend for _, backend in kernels)


@dataclass(frozen=True, slots=True)
class Asked:
    """One comparison to make. kernel: what is compared."""

    kernel: str
    job_at: Callable[[Place], Job]


def _alone(kernels: Sequence[tuple[ProblemSpec, str]], any_place: Place) -> list[Asked]:
    """Every kernel on every case alone, against itself."""

    def on(spec: ProblemSpec, backend: str, case: Case) -> Asked:
        name = f"{spec.name}, {backend}, {case.name}"
        return Asked(name, lambda place: replace(_v0((spec, backend), place), cases=(case,)))

    return [
        on(spec, backend, case)
        for spec, backend in kernels
        for case in _v0((spec, backend), any_place).cases
    ]


def _longer(kernels: Sequence[tuple[ProblemSpec, str]], problem: Path) -> list[Asked]:
    """A kernel of every backend against one that does more of the same."""

    def by(backend: str) -> Asked:
        name = f"{backend}, {STEPS} steps against {1 + GAIN:g} times as many"
        return Asked(name, lambda place: known_job(place.device, problem, backend, *_rest(place)))

    return [by(backend) for backend in _backends(kernels)]


def _v0(kernel: tuple[ProblemSpec, str], place: Place) -> Job:
    return v0_job(place.device, *kernel, *_rest(place))


def _rest(place: Place) -> tuple[Path, Protocol]:
    """What a job needs besides its kernel."""
    return place.scratch, CPU_PROTOCOL if place.device.kind == "cpu" else GPU_PROTOCOL


def _evaluate(job: Job, place: Place) -> Report:
    """Raises PrecisionError for what did not pass."""
    report = place.service.evaluate(job)
    if report.outcome is not Outcome.PASSED:
        raise PrecisionError(f"{job.problem.name}: {report.outcome}: {report.reason}")
    return report


def _environment(reports: Sequence[tuple[Report, ...]]) -> dict[str, str]:
    """What the first session of each kernel says, but for what the sandbox refused."""
    found = {"python": platform.python_version()}
    for first, *_ in reports:
        found.update(first.environment)
    found.pop("refused", None)
    return found


def _by_case(reports: Sequence[Report]) -> Iterable[tuple[CaseReport, ...]]:
    return zip(*(report.cases for report in reports), strict=True)


def _compared(
    name: str,
    asked: Sequence[Asked],
    places: Sequence[Place],
    deadline: float,
    progress: Callable[[str], None],
) -> tuple[Compared, ...]:
    """Those that were made until `deadline` on `time.monotonic`."""

    def one(numbered: tuple[int, Asked], place: Place) -> Compared | None:
        if time.monotonic() > deadline:
            return None
        number, wanted = numbered
        found = _judged(wanted.kernel, _evaluate(wanted.job_at(place), place))
        interval = f"{found.gain:+.2%}, 95% {found.low:+.2%} to {found.high:+.2%}"
        progress(f"{name} {number}/{len(asked)} ({wanted.kernel}): {found.verdict} ({interval})")
        return found

    return tuple(filter(None, spread(one, enumerate(asked, 1), places)))


def _reading(kernel: Kernel, cases: Sequence[CaseReport]) -> Reading:
    """cases: the same one in every session."""
    timings = [_timed(case.candidate) for case in cases]
    medians = [median(timing.samples_us) for timing in timings]
    ordered = sorted(us for timing in timings for us in timing.samples_us)
    return Reading(
        problem=kernel.problem,
        backend=kernel.backend,
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


def _judged(kernel: str, report: Report) -> Compared:
    decision = decide(report, Standard(has_incumbent=True, noise=noise_floor(0.0)))
    gain = decision.gain
    if gain is None:
        raise PrecisionError(f"a comparison: {decision.sentence}")
    case = report.cases[0]
    new, old = (_timed(arm).event_us for arm in (case.candidate, case.incumbent))
    return Compared(
        kernel=kernel,
        verdict=str(decision.verdict),
        reason=str(decision.reason),
        gain=gain.gain,
        low=gain.low,
        high=gain.high,
        event_gain=old / new - 1 if old and new else None,
    )
