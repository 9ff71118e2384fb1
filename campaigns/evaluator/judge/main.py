"""The judge: makes the inputs, holds the reference, owns the clock, reads the outputs.

It never loads a candidate and never imports what a candidate brings. Order of events: attach both
runners, build, load, check every case on fresh seeds, and only then time (law 3).
"""

from __future__ import annotations

import math
import os
import socket
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from campaigns.evaluator.contract import (
    CaseReport,
    Job,
    Look,
    Moment,
    Outcome,
    Phase,
    Report,
    Timing,
    dump,
)
from campaigns.evaluator.errors import BadReference, CandidateError, HostError, is_out_of_memory
from campaigns.evaluator.judge.timing.caveats import short_call_caveats
from campaigns.evaluator.problem import ProblemError
from campaigns.evaluator.processes import keep_freed_memory, waited_for_cpu_s

# The key of how long the judge had no CPU, in a report's environment.
WAITED = "waited for a CPU"
# For a backend on a device that it is not timed on.
INTERPRETED = (
    "judged in an interpreter, which is slow and is not timed; "
    'mark small cases for it with on = ["interpreter"]'
)


@dataclass
class JudgeProgress:
    """What is known so far; becomes the report, however the evaluation ends."""

    pipe: int
    phase: Phase = Phase.START
    checked: dict[str, CaseReport] = field(default_factory=dict)
    wall_s: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    surroundings: list[Moment] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    _since: float = field(default_factory=time.monotonic)

    def tell(self, line: str) -> None:
        """Pass a line of a stream on; short enough for a pipe to take it whole."""
        os.write(self.pipe, line.encode() + b"\n")

    def enter(self, phase: Phase, detail: str = "") -> None:
        now = time.monotonic()
        self.wall_s[self.phase] = self.wall_s.get(self.phase, 0.0) + now - self._since
        self.phase, self._since = phase, now
        os.write(self.pipe, f"phase {phase} {detail}\n".encode())


def main(
    job: Job,
    out: int,
    channels: Mapping[str, socket.socket],
    pipe: int,
    orders: Iterable[str],
    locked: str,
) -> int:
    """Judge one job and write its report to the file `out`, which no runner has open.

    orders: the lines that follow a job that is a stream. locked: what holds of the judge's lock.
    """
    progress = JudgeProgress(pipe, environment={"judge": locked})
    keep_freed_memory()
    try:
        timings = _judge(job, channels, progress, orders)
        progress.enter(Phase.DONE)
        report = _report(job, progress, Outcome.PASSED, _done(job), timings)
    except CandidateError as error:
        if error.outcome is not Outcome.NOT_JUDGED:
            progress.checked.setdefault(error.case, CaseReport(error.case, False, 0))
        report = _report(job, progress, error.outcome, error.reason, {})
    except (HostError, ProblemError) as error:
        report = _report(job, progress, Outcome.BROKEN_HOST, str(error), {})
        is_problems = isinstance(error, BadReference | ProblemError)
        report = replace(report, problem_fault=is_problems)
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        report = _report(job, progress, Outcome.BROKEN_HOST, f"{error}".splitlines()[0], {})
    with os.fdopen(out, "w") as file:
        file.write(dump(report))
    return 0


def _done(job: Job) -> str:
    """What was asked for, as the reason of a report."""
    if job.stream:
        return "every variant was taken"
    if job.sanitize:
        return "checked by sanitizers"
    return "its machine code was read" if job.read_code else "correct on every case"


def _judge(
    job: Job,
    channels: Mapping[str, socket.socket],
    progress: JudgeProgress,
    orders: Iterable[str],
) -> dict[str, dict[str, Timing]]:
    # Imported here: a judge is forked from a process that must not run torch code itself.
    if job.stream:
        from campaigns.evaluator.screen.serve import serve

        serve(job, channels, progress, orders)
        return {}
    from campaigns.evaluator.judge.session import MeasuringSession

    session = MeasuringSession(job, channels, progress)
    session.attach()
    if job.sanitize:
        progress.enter(Phase.CHECK)
        session.sanitize()
        return {}
    if job.read_code:
        progress.enter(Phase.BUILD)
        session.read_code()
        return {}
    progress.notes += session.build_notes()
    session.load()
    if not session.can_be_timed:
        progress.notes.append(INTERPRETED)
    session.check()
    if not job.timed:
        return {}
    if not session.can_be_timed:
        for case in job.cases:
            session.rehearse(case)
        return {}
    timers = session.time()
    timings = {case.name: session.explain(case, timers[case.name]) for case in job.cases}
    if job.device == "cpu":
        progress.notes += short_call_caveats(timings)
    session.stop()
    return timings


def _report(
    job: Job,
    progress: JudgeProgress,
    outcome: Outcome,
    reason: str,
    timings: Mapping[str, Mapping[str, Timing]],
) -> Report:
    cases = [
        replace(
            checked,
            max_abs_error=_finite(checked.max_abs_error),
            max_rel_error=_finite(checked.max_rel_error),
            margin=_finite(checked.margin),
            norm_error=_finite(checked.norm_error),
            repeat_margin=_finite(checked.repeat_margin),
            candidate=timings.get(case, {}).get("candidate"),
            incumbent=timings.get(case, {}).get("incumbent"),
        )
        for case, checked in progress.checked.items()
        if case
    ]
    return Report(
        job_id=job.job_id,
        outcome=outcome,
        phase=progress.phase,
        reason=reason,
        cases=tuple(cases),
        notes=tuple(progress.notes),
        environment={**progress.environment, WAITED: f"{waited_for_cpu_s():.1f} s"},
        wall_s=progress.wall_s,
        surroundings=tuple(progress.surroundings),
        looks=tuple(progress.looks),
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
