"""The judge: makes the inputs, holds the reference, owns the clock, reads the outputs.

It never loads a candidate and never imports what a candidate brings. `pipeline` has the order of
events; this is the edge of its process, where whatever happens becomes a report.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from campaigns.evaluator.contract import CaseReport, Job, Outcome, Phase, Report, Timing
from campaigns.evaluator.contract.errors import (
    BadReference,
    CandidateError,
    HostBusy,
    HostError,
    ProblemError,
    is_out_of_memory,
)
from campaigns.evaluator.contract.report import WAITED
from campaigns.evaluator.judge.integrity.channel import waited_for_cpu_s
from campaigns.evaluator.judge.progress import JudgeProgress, JudgeTask, Work

ARMS = ("candidate", "incumbent")
ERRORS = ("max_abs_error", "max_rel_error", "margin", "norm_error", "repeat_margin")


def main(task: JudgeTask, work: Work | None = None) -> Report:
    """Do one job; whatever happens, there is a report.

    work: what is done in place of judging, for a job that is none.
    """
    job, progress = task.job, task.progress
    try:
        if work is None:
            # Imported here: a judge is forked from a process that must not run torch code itself.
            from campaigns.evaluator.judge.pipeline import judge

            work = judge
        done = work(task)
        progress.enter(Phase.DONE)
        return _report(job, progress, Outcome.PASSED, done.reason, done.timings)
    except CandidateError as error:
        if error.outcome is not Outcome.NOT_JUDGED:
            progress.checked.setdefault(error.case, CaseReport(error.case, False, 0))
        report = _report(job, progress, error.outcome, error.reason, {})
        late = error.outcome is Outcome.TIMED_OUT
        return replace(report, host_busy=late and progress.is_crowded())
    except (HostError, ProblemError) as error:
        report = _report(job, progress, Outcome.BROKEN_HOST, str(error), {})
        is_problems = isinstance(error, BadReference | ProblemError)
        busy = isinstance(error, HostBusy) or (not is_problems and progress.is_crowded())
        return replace(report, problem_fault=is_problems, host_busy=busy)
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        return _report(job, progress, Outcome.BROKEN_HOST, f"{error}".splitlines()[0], {})


def _report(
    job: Job,
    progress: JudgeProgress,
    outcome: Outcome,
    reason: str,
    timings: Mapping[str, Mapping[str, Timing]],
) -> Report:
    cases = []
    for case, checked in progress.checked.items():
        found: dict[str, Any] = {arm: timings.get(case, {}).get(arm) for arm in ARMS}
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
        notes=tuple(progress.notes),
        environment={**progress.environment, WAITED: f"{waited_for_cpu_s():.1f} s"},
        wall_s=progress.count(),
        surroundings=tuple(progress.surroundings),
        looks=tuple(progress.looks),
    )
