"""What a verdict costs: the seconds of a trial by phase, for a right and for a wrong kernel.

Every trial is an evaluation of the shipped softmax's v0 by a service that runs already: alone,
against itself with the looks of a campaign, and wrong by 1 % everywhere. Beside them stands what
it costs to count the same kernel with a profiler, as is done once for each that is kept.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
    require,
)
from campaigns.devices.discover import this_device
from campaigns.devices.explain import count_kernels
from campaigns.devices.launch import EvaluatorService
from campaigns.devices.passport import Measurer, v0_job
from campaigns.evaluator.contract import Job, Outcome, Phase, backends
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.problems.shipped import problem_folder
from campaigns.steps.lifecycle.create_campaign import protocol_for

PROBLEM, TRIES = "softmax", 3
ALONE, AGAINST, WRONG = "alone", "against an incumbent", "a wrong kernel"
COUNTED = "its profile"
# What a backend's v0 writes in the end, and the same with answers that are 1 % too large.
SPOILT = {
    "triton": ("y = powers /", "y = 1.01 * powers /"),
    "cuda": ("y[j] /= total", "y[j] *= 1.01f / total"),
    "cpp": ("y[j] /= total", "y[j] *= 1.01f / total"),
}
# Seconds that a verdict may take on a quiet machine, by kind of device.
ALLOWED_S = {
    "cpu": {ALONE: 8.0, AGAINST: 8.0, WRONG: 2.0, COUNTED: 8.0},
    "gpu": {ALONE: 5.0, AGAINST: 8.0, WRONG: 2.0, COUNTED: 8.0},
}
PHASES = tuple(phase for phase in Phase if phase is not Phase.DONE)
NOTE = (
    "Medians, without the first trial, which starts the service. The whole is what a caller waits "
    "for; the phases are the judge's own account of it, and `rest` is what they leave: forks and "
    "the ends of processes, and all of a profile."
)


@dataclass(frozen=True, slots=True)
class Timed:
    """One trial. wall_s: by phase; whole_s: what its caller waited for."""

    backend: str
    kind: str
    wall_s: Mapping[str, float]
    whole_s: float

    def row(self) -> Row:
        by_phase = {f"{phase} s": self.wall_s.get(phase, 0.0) for phase in PHASES}
        rest_s = self.whole_s - sum(by_phase.values())
        return {
            "backend": self.backend,
            "trial": self.kind,
            **by_phase,
            "rest s": rest_s,
            "whole s": self.whole_s,
        }


def measure_trials(options: Namespace, progress: Progress) -> BenchReport:
    """Time each kind of trial on each backend so often."""
    require(options, tries=(1, None))
    device, timed, uncounted = this_device(options.device), list[Timed](), list[str]()
    protocol = protocol_for(device.kind)
    with held(device) as folder, EvaluatorService() as service:
        spec = load_problem(problem_folder(PROBLEM))
        for name in options.backend or spec.files:
            if device.kind not in backends.get(name).kinds:
                continue
            # As the first session of a round, which is all that most of them have.
            both = replace(v0_job(device, spec, name, folder / "scratch", protocol), repeats=False)
            for number in range(options.tries + 1):
                for kind, job in trials_of(both).items():
                    one = _timed(service, kind, job)
                    progress(f"{name}, {kind}: {one.whole_s:.1f} s")
                    timed += [one] if number else []
            try:
                timed += counted(service, both, options.tries)
            except BenchmarkError as error:
                uncounted.append(f"{name} has no profile: {error}.")
    if not timed:
        raise BenchmarkError("--backend: none of them is timed on this device")
    costs, allowed = list(medians(timed)), ALLOWED_S[device.kind]
    over = [
        f"{one.backend}, {one.kind}: {one.whole_s:.1f} s of {allowed[one.kind]:g} s"
        for one in costs
        if one.whole_s > allowed[one.kind]
    ]
    return BenchReport(
        title="What a verdict costs",
        question=f"How long does a trial of {PROBLEM} take, and with what?",
        device=device,
        verdict=f"over what is allowed: {'; '.join(over)}"
        if over
        else "all within what is allowed",
        held=not over,
        tables=[ReportTable("Seconds by phase", [one.row() for one in costs], [NOTE, *uncounted])],
        packages=("torch", "triton"),
    )


def trials_of(both: Job) -> dict[str, Job]:
    """both: a kernel against itself."""
    text = both.candidate.text.replace(*SPOILT[both.backend])
    if text == both.candidate.text:
        raise BenchmarkError(f"{PROBLEM}: its {both.backend} kernel is not the one that is known")
    wrong = replace(both.candidate, text=text)
    return {
        ALONE: replace(both, incumbent=None),
        AGAINST: both,
        WRONG: replace(both, candidate=wrong, incumbent=None),
    }


def _timed(service: EvaluatorService, kind: str, job: Job) -> Timed:
    since = time.monotonic()
    report = service.evaluate(job)
    whole_s = time.monotonic() - since
    wanted = Outcome.WRONG_RESULT if kind == WRONG else Outcome.PASSED
    if report.outcome is not wanted:
        raise BenchmarkError(f"{job.backend}, {kind}: {report.outcome}: {report.reason}")
    return Timed(job.backend, kind, report.wall_s, whole_s)


def counted(service: Measurer, both: Job, tries: int) -> list[Timed]:
    """Count the candidate so often. Raises BenchmarkError where nothing was, which says why."""
    timed = []
    for _ in range(tries):
        since = time.monotonic()
        profile = count_kernels(both, None, service)
        timed.append(Timed(both.backend, COUNTED, {}, time.monotonic() - since))
        if profile is None or not profile.text:
            raise BenchmarkError(profile.note if profile else "no profiler of this device reads it")
    return timed


def medians(timed: Sequence[Timed]) -> Iterator[Timed]:
    """One for each backend and kind of trial."""
    for backend, kind in dict.fromkeys((one.backend, one.kind) for one in timed):
        found = [one for one in timed if (one.backend, one.kind) == (backend, kind)]
        wall_s = {str(p): median(one.wall_s.get(p, 0.0) for one in found) for p in PHASES}
        yield Timed(backend, kind, wall_s, median(one.whole_s for one in found))


TRIAL = Benchmark(
    "trial",
    "the seconds of a verdict, by phase",
    (
        DEVICE,
        option("--backend", action="append", help="default: all that run on the device"),
        option("--tries", type=int, default=TRIES, help="of each kind"),
    ),
    measure_trials,
)
