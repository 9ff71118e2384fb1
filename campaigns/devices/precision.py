"""How good the judge's clock is on this device: against device events, and against itself.

Two questions with the shipped v0 kernels. Does the slope of bursts agree with CUDA events and with
the driver's tracer around the very same graph? And when a kernel is compared with itself, how often
is a change claimed (A/A)?
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from campaigns.devices.discover import Device
from campaigns.devices.launch import EvaluatorService
from campaigns.devices.v0 import v0_job
from campaigns.evaluator.contract import CaseReport, Job, Outcome, Protocol, Report, Timing
from campaigns.evaluator.problem import ProblemSpec
from campaigns.rules.decision import Verdict
from campaigns.rules.gates import Standard
from campaigns.rules.noise import noise_floor
from campaigns.rules.verdict import decide

# Shorter kernels are stated, longer ones are held to AGREEMENT.
SHORT_US = 20.0
AGREEMENT = 0.02
CPU_PROTOCOL = Protocol(blocks=5, burst_ms=10, max_slots=64, arena_mib=1024, trials=1)
GPU_PROTOCOL = Protocol(blocks=5, trials=1)


class PrecisionError(RuntimeError):
    """A v0 that did not pass; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One kernel on one case, in microseconds per call; spread: 10th and 90th percentile."""

    problem: str
    backend: str
    case: str
    timer: str
    slope_us: float
    low_us: float
    high_us: float
    event_us: float | None
    device_us: float | None
    samples_us: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Same:
    """One A/A comparison: what the rules said of a kernel against itself."""

    verdict: str
    reason: str
    gain: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Precision:
    device: str
    measured_at: str
    readings: tuple[Reading, ...]
    same: tuple[Same, ...]
    same_kernel: str
    environment: dict[str, str]

    @property
    def shown(self) -> int:
        """How many A/A comparisons claimed a change."""
        return sum(one.verdict != Verdict.NO_CHANGE for one in self.same)


def measure_precision(
    device: Device,
    kernels: Iterable[tuple[ProblemSpec, str]],
    same: int,
    progress: Callable[[str], None],
) -> Precision:
    """Read every kernel, then compare the first one with itself `same` times."""
    listed = list(kernels)
    readings: list[Reading] = []
    environment: dict[str, str] = {"python": platform.python_version()}
    protocol = CPU_PROTOCOL if device.kind == "cpu" else GPU_PROTOCOL
    with TemporaryDirectory(prefix="kopt-bench-") as folder, EvaluatorService() as service:
        scratch = Path(folder) / "scratch"
        for spec, backend in listed:
            report = _evaluate(service, v0_job(device, spec, backend, scratch, protocol))
            environment.update(report.environment)
            readings += [_reading(spec, backend, case) for case in report.cases]
            progress(f"{spec.name} {backend}: {len(report.cases)} cases read")
        spec, backend = listed[0]
        job = v0_job(device, spec, backend, scratch, protocol)
        job = replace(job, cases=job.cases[-1:])
        found = []
        for number in range(1, same + 1):
            found.append(_same(_evaluate(service, job)))
            progress(f"A/A {number}/{same}: {found[-1].verdict} ({found[-1].gain:+.2%})")
    return Precision(
        device=device.name,
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        readings=tuple(readings),
        same=tuple(found),
        same_kernel=f"{spec.name}, {backend}, {job.cases[0].name}",
        environment=environment,
    )


def _evaluate(service: EvaluatorService, job: Job) -> Report:
    report = service.evaluate(job)
    if report.outcome is not Outcome.PASSED:
        raise PrecisionError(f"{job.problem.name}: {report.outcome}: {report.reason}")
    return report


def _reading(spec: ProblemSpec, backend: str, case: CaseReport) -> Reading:
    timing = _timed(case.candidate)
    ordered = sorted(timing.samples_us)
    return Reading(
        problem=spec.name,
        backend=backend,
        case=case.case,
        timer=str(timing.timer),
        slope_us=median(ordered),
        low_us=ordered[len(ordered) // 10],
        high_us=ordered[-1 - len(ordered) // 10],
        event_us=timing.event_us,
        device_us=timing.device_us,
        samples_us=timing.samples_us,
    )


def _timed(timing: Timing | None) -> Timing:
    if timing is None:
        raise PrecisionError("a case was not timed")
    return timing


def _same(report: Report) -> Same:
    decision = decide(report, Standard(has_incumbent=True, noise=noise_floor(0.0)))
    gain = decision.gain
    if gain is None:
        raise PrecisionError(f"A/A: {decision.sentence}")
    return Same(str(decision.verdict), str(decision.reason), gain.gain, gain.low, gain.high)


def apart(reading: Reading) -> float | None:
    """Slope over event time, less one; None where there are no events."""
    return reading.slope_us / reading.event_us - 1 if reading.event_us else None


def to_markdown(found: Precision) -> str:
    """A report for people, with every sample in the JSON beside it."""
    rows = [
        "| problem | backend | case | timer | slope µs (p10–p90) | events µs "
        "| slope/events | tracer µs |",
        "|---|---|---|---|--:|--:|--:|--:|",
    ]
    for r in found.readings:
        off = apart(r)
        rows.append(
            f"| {r.problem} | {r.backend} | {r.case} | {r.timer} "
            f"| {r.slope_us:.2f} ({r.low_us:.2f}–{r.high_us:.2f}) | {_number(r.event_us)} "
            f"| {'–' if off is None else f'{off:+.2%}'} | {_number(r.device_us)} |"
        )
    versions = ", ".join(f"{k} {v}" for k, v in sorted(found.environment.items()))
    quiet = len(found.same) - found.shown
    worst = max((abs(one.gain) for one in found.same), default=0.0)
    return (
        "\n".join(
            [
                f"# Precision of the judge's clock on {found.device}",
                "",
                f"Measured {found.measured_at} by `python manage.py bench precision`; {versions}.",
                "",
                f"**A/A ({found.same_kernel}): {quiet} of {len(found.same)} comparisons of a "
                f"kernel with itself showed no change**; largest |gain| {worst:.2%}.",
                "",
                f"Held to {AGREEMENT:.0%} of event time for kernels over {SHORT_US:.0f} µs, "
                "stated for shorter ones. Event time includes the graph's launch.",
                "",
                *rows,
            ]
        )
        + "\n"
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
