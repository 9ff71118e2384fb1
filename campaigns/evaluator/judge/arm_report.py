"""The report of one candidate, from what is known when its part in an evaluation ends."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from campaigns.evaluator.contract import CaseReport, Job, Outcome, Report, Timing
from campaigns.evaluator.contract.errors import (
    BadReference,
    CandidateError,
    HostBusy,
    ProblemError,
    is_out_of_memory,
)
from campaigns.evaluator.contract.job import CANDIDATE, INCUMBENT
from campaigns.evaluator.contract.report import MEMORY, WAITED
from campaigns.evaluator.judge.integrity.time_budget import waited_for_cpu_s
from campaigns.evaluator.judge.progress import JudgeProgress

ERRORS = ("max_abs_error", "max_rel_error", "margin", "norm_error", "repeat_margin")


def report_of(
    job: Job,
    progress: JudgeProgress,
    arm: str,
    outcome: Outcome,
    reason: str,
    timings: Mapping[str, Mapping[str, Timing]],
) -> Report:
    """timings: by case and arm; empty where nothing was timed."""
    cases = []
    for case, checked in progress.checked[arm].items():
        timed = timings.get(case, {})
        found: dict[str, Any] = {CANDIDATE: timed.get(arm), INCUMBENT: timed.get(INCUMBENT)}
        for name in ERRORS:
            error = getattr(checked, name)
            # JSON has no infinity.
            found[name] = error if error is not None and math.isfinite(error) else None
        if case:
            cases.append(replace(checked, **found))
    return Report(
        job_id=job.job_id,
        outcome=outcome,
        phase=progress.phase,
        reason=reason,
        cases=tuple(cases),
        notes=(*progress.notes, *progress.notes_of[arm]),
        environment={**progress.environment, WAITED: f"{waited_for_cpu_s():.1f} s"},
        wall_s=dict(progress.count()),
        surroundings=tuple(m for m in progress.surroundings if m.case in progress.checked[arm]),
        looks=tuple(progress.looks),
    )


def failure_of(job: Job, progress: JudgeProgress, arm: str, error: Exception) -> Report:
    """What an error makes of a candidate, its own or another's."""
    if isinstance(error, CandidateError) and error.arm in ("", arm):
        if error.outcome is not Outcome.NOT_JUDGED:
            progress.checked[arm].setdefault(error.case, CaseReport(error.case, False, 0))
        report = report_of(job, progress, arm, error.outcome, error.reason, {})
        late = error.outcome is Outcome.TIMED_OUT
        return replace(report, host_busy=late and progress.is_crowded())
    reason = f"{error}".splitlines()[0]
    if is_out_of_memory(error):
        planned = progress.environment.get(MEMORY, "nothing was planned yet")
        words = (
            f"kopt's own processes ran out of memory, which is its own fault: {reason} ({planned})"
        )
        return report_of(job, progress, arm, Outcome.NOT_JUDGED, words, {})
    if isinstance(error, CandidateError):
        reason = f"it was not tried to the end beside another candidate: {reason}"
    report = report_of(job, progress, arm, Outcome.BROKEN_HOST, reason, {})
    is_problems = isinstance(error, BadReference | ProblemError)
    busy = isinstance(error, HostBusy) or (not is_problems and progress.is_crowded())
    return replace(report, problem_fault=is_problems, host_busy=busy)
