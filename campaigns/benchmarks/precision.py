"""How good the judge's clock is on this device: three questions.

Does the slope of bursts agree with the driver's tracer, with CUDA events, and with itself in
another session? How often is a change claimed when a kernel is compared with itself (A/A)? And how
often is it seen when one is faster by a few percent?

Gains are known of `chain`, whose values go through multiply-adds that leave them as they are. The
factors are arguments, so no compiler can know that, and next to the chains nothing takes time.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from statistics import median

from campaigns.benchmarks.harness import (
    DEVICE,
    Benchmark,
    BenchmarkError,
    BenchReport,
    Progress,
    ReportTable,
    Row,
    held,
    option,
)
from campaigns.benchmarks.trick import TRICKS
from campaigns.devices.discover import Device, this_device
from campaigns.devices.launch import EvaluatorService
from campaigns.devices.passport import v0_job
from campaigns.evaluator.contract import (
    Case,
    CaseReport,
    Job,
    Outcome,
    Report,
    Source,
    backends,
)
from campaigns.evaluator.contract.problem import ProblemSpec
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.problems.shipped import problem_folder, shipped_folders
from campaigns.rules.noise.gain import noise_floor
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import decide_session
from campaigns.steps.lifecycle.create_campaign import protocol_for

SESSIONS, SAME, KNOWN, LIMIT_S = 3, 40, 10, 3600.0
CHAIN = TRICKS / "problems" / "chain"
# As in the sources of `chain`, and how much longer the other one is.
STEPS, GAIN = 2000, 0.03
SLOWER = round(STEPS * (1 + GAIN))
# Values: about a millisecond of a CPU's core, a tenth of one of a large GPU.
VALUES = {"cpu": 512, "gpu": 1 << 20}
# From some 5 µs to some 5 ms of a large GPU.
LENGTHS = (150, 1_500, 15_000, 150_000)
# Shorter kernels are stated, longer ones are held to AGREEMENT with the device's own time.
SHORT_US = 20.0
AGREEMENT, REPEATED = 0.01, 0.005
CLOCK_NOTE = (
    f"Kernels over {SHORT_US:.0f} µs are held to {AGREEMENT:.0%} of device time, shorter ones are "
    "stated. Events are the device's own time from the end of a burst to that of the next, per "
    "call, the median of five. The tracer adds up kernels alone, launched one by one, without what "
    "lies between them; some take longer while it looks. Medians of sessions are held to "
    f"{REPEATED:.1%}."
)


@dataclass(frozen=True, slots=True)
class Reading:
    """One kernel on one case, in microseconds per call.

    slope_us, event_us, device_us: medians over the sessions. repeats_within: how far a session's
    median is from the median of all, as a share of it. low_us, high_us: the 10th and 90th
    percentile of all samples.
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
    repeats_within: float

    def row(self) -> Row:
        return {
            "problem": self.problem,
            "backend": self.backend,
            "case": self.case,
            "timer": self.timer,
            "slope µs": self.slope_us,
            "p10–p90": f"{self.low_us:.4g}–{self.high_us:.4g}",
            "repeats within": f"{self.repeats_within:.2%}",
            "tracer µs": self.device_us,
            "slope/tracer": _apart(self.slope_us, self.device_us),
            "events µs": self.event_us,
            "slope/events": _apart(self.slope_us, self.event_us),
        }


# What the rules said of one kernel against another, or against itself: the kernel, the verdict,
# and the gain as a fraction.
Compared = tuple[str, VerdictWord, float]


def measure_precision(options: Namespace, progress: Progress) -> BenchReport:
    """Read every kernel; compare each in turn with itself, and known gains of their backends.

    On a GPU chains of known lengths are read as well, by each of the backends.
    """
    device, deadline = this_device(options.device), time.monotonic() + options.limit_s
    with held(device) as folder, EvaluatorService() as service:
        scratch = folder / "scratch"
        burst_ms = options.burst_ms or protocol_for(device.kind).burst_ms

        def of_that_length(job: Job) -> Job:
            return replace(job, protocol=replace(job.protocol, burst_ms=burst_ms))

        shipped = _shipped(device, options.problem, options.backend, scratch)
        kernels = [of_that_length(job) for job in shipped]
        if not kernels:
            raise BenchmarkError("--problem, --backend: no kernel of them is timed on this device")
        used = dict.fromkeys(job.backend for job in kernels)
        lengths = LENGTHS if device.kind == "gpu" else ()
        chains = [chain_job(device, name, scratch, n, n) for name in used for n in lengths]
        slower = [of_that_length(chain_job(device, n, scratch, STEPS, SLOWER)) for n in used]
        alone = [replace(job, cases=(case,)) for job in kernels for case in job.cases]
        readings = []
        for job in (*kernels, *chains):
            reports = [_evaluated(service, job) for _ in range(options.sessions)]
            progress(f"{job.problem.name} {job.backend}: {len(job.cases)} cases read")
            sessions = zip(*(report.cases for report in reports), strict=True)
            readings += [_reading(job, cases) for cases in sessions]

        def compared(jobs: Sequence[Job], times: int) -> Iterator[Compared]:
            """Each in turn, so many in all; those that were begun in time."""
            for job in islice(cycle(jobs), times):
                if time.monotonic() > deadline:
                    break
                report = _evaluated(service, job)
                standard = Standard(has_incumbent=True, noise=noise_floor(0.0))
                decision = decide_session(report, standard)
                if decision.gain is None:
                    raise BenchmarkError(f"{job.problem.name}: {decision.sentence}")
                kernel = f"{job.problem.name}, {job.backend}, {report.cases[0].case}"
                progress(f"{kernel}: {decision.verdict} ({decision.gain.gain:+.2%})")
                yield kernel, decision.verdict, decision.gain.gain

        # The fewer ones first, should the time not suffice for all.
        known = list(compared(slower, options.known))
        same = list(compared(alone, options.same))
    return report_of(device, readings, same, known)


def report_of(
    device: Device, readings: Sequence[Reading], same: Sequence[Compared], known: Sequence[Compared]
) -> BenchReport:
    """What was read, compared with itself, and compared with a slower one."""
    quiet = sum(verdict is VerdictWord.NO_CHANGE for _, verdict, _ in same)
    found = sum(verdict is VerdictWord.ACCEPTED for _, verdict, _ in known)
    return BenchReport(
        title="Precision of the judge's clock",
        question="Does the judge's clock agree with the device, and with itself?",
        device=device,
        verdict=f"A/A: {quiet} of {len(same)} comparisons of a kernel with itself showed no "
        f"change. True gains of {GAIN:.0%}: {found} of {len(known)} found.{_clock(readings)}",
        tables=[
            ReportTable("Clock", [one.row() for one in readings], [CLOCK_NOTE]),
            ReportTable("Compared with itself", list(_by_kernel(same))),
            ReportTable(
                f"Compared with a kernel that takes {GAIN:.0%} longer", list(_by_kernel(known))
            ),
        ],
        packages=("torch", "triton"),
    )


PRECISION = Benchmark(
    "precision",
    "slope against device time, A/A comparisons, and gains that are known",
    (
        DEVICE,
        option("--backend", action="append", help="default: all that run on the device"),
        option("--problem", action="append", help="shipped name or folder; default: all"),
        option("--sessions", type=int, default=SESSIONS),
        option("--same", type=int, default=SAME, help="A/A comparisons"),
        option("--known", type=int, default=KNOWN, help="true gains"),
        option("--burst-ms", type=float, help="as in the protocol; default: that of campaigns"),
        option("--limit-s", type=float, default=LIMIT_S, help="then what was compared is reported"),
    ),
    measure_precision,
)


def chain_source(backend: str, steps: int) -> Source:
    """The kernel of `chain` with chains of so many steps."""
    name = load_problem(CHAIN).files[backend]
    return Source(name, (CHAIN / name).read_text().replace(str(STEPS), str(steps)))


def chain_job(device: Device, backend: str, scratch: Path, steps: int, against: int) -> Job:
    """A chain of so many steps against one of `against`."""
    return replace(
        _v0(device, load_problem(CHAIN), backend, scratch),
        cases=(Case(f"{steps} steps", {"N": VALUES[device.kind]}),),
        candidate=chain_source(backend, steps),
        incumbent=chain_source(backend, against),
    )


def _shipped(
    device: Device, problems: Sequence[str] | None, wanted: Sequence[str] | None, scratch: Path
) -> Iterator[Job]:
    folders = [problem_folder(name) for name in problems] if problems else shipped_folders()
    timed = {name for name, backend in backends.every().items() if device.kind in backend.kinds}
    for spec in map(load_problem, folders):
        for backend in spec.files:
            if backend in timed and (not wanted or backend in wanted):
                yield _v0(device, spec, backend, scratch)


def _v0(device: Device, spec: ProblemSpec, backend: str, scratch: Path) -> Job:
    return v0_job(device, spec, backend, scratch, protocol_for(device.kind))


def _evaluated(service: EvaluatorService, job: Job) -> Report:
    report = service.evaluate(job)
    if report.outcome is not Outcome.PASSED:
        raise BenchmarkError(f"{job.problem.name}: {report.outcome}: {report.reason}")
    return report


def _reading(job: Job, cases: Sequence[CaseReport]) -> Reading:
    """cases: the same one in every session."""
    timings = [case.candidate for case in cases if case.candidate]
    if len(timings) < len(cases):
        raise BenchmarkError("a case was not timed")
    medians = [median(timing.samples_us) for timing in timings]
    ordered = sorted(us for timing in timings for us in timing.samples_us)
    events_us = [timing.event_us for timing in timings if timing.event_us is not None]
    devices_us = [timing.device_us for timing in timings if timing.device_us is not None]
    slope_us = median(medians)
    return Reading(
        problem=job.problem.name,
        backend=job.backend,
        case=cases[0].case,
        timer=str(timings[0].timer),
        slope_us=slope_us,
        low_us=ordered[len(ordered) // 10],
        high_us=ordered[-1 - len(ordered) // 10],
        event_us=median(events_us) if events_us else None,
        device_us=median(devices_us) if devices_us else None,
        repeats_within=max(abs(one / slope_us - 1) for one in medians),
    )


def _clock(readings: Sequence[Reading]) -> str:
    """How many of the kernels that are held to device time agree with it; empty without any."""
    long = [reading for reading in readings if reading.slope_us > SHORT_US]
    events = [one.slope_us / one.event_us - 1 for one in long if one.event_us]
    tracer = [one.slope_us / one.device_us - 1 for one in long if one.device_us]
    if not events and not tracer:
        return ""
    by_events, by_tracer = (
        f"{sum(abs(one) <= AGREEMENT for one in apart)} of {len(apart)}"
        for apart in (events, tracer)
    )
    repeats = max(reading.repeats_within for reading in readings)
    return (
        f" Clock: of kernels over {SHORT_US:.0f} µs {by_events} are within {AGREEMENT:.0%} "
        f"of the device's events, {by_tracer} of the driver's tracer; medians of sessions "
        f"are within {repeats:.2%}."
    )


def _by_kernel(compared: Sequence[Compared]) -> Iterator[Row]:
    for kernel in dict.fromkeys(kernel for kernel, _, _ in compared):
        verdicts = Counter(word.replace("_", " ") for of, word, _ in compared if of == kernel)
        gains = [gain for of, _, gain in compared if of == kernel]
        yield {
            "kernel": kernel,
            "times": len(gains),
            "verdicts": ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items()),
            "gains": f"{min(gains):+.2%} to {max(gains):+.2%}",
        }


def _apart(slope_us: float, other_us: float | None) -> str | None:
    return f"{slope_us / other_us - 1:+.2%}" if other_us else None
