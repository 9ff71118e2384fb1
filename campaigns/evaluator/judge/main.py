"""The judge: makes the inputs, holds the reference, owns the clock, reads the outputs.

It never loads a candidate and never imports what a candidate brings. `pipeline` has the order of
events; this is the edge of its process, where whatever happens becomes a report.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from campaigns.evaluator.contract import Outcome, Phase, Report
from campaigns.evaluator.contract.errors import EvaluationError, ProblemError, is_out_of_memory
from campaigns.evaluator.judge.arm_report import failure_of, report_of
from campaigns.evaluator.judge.progress import JudgeTask, Work


def main(task: JudgeTask, work: Work | None = None) -> Report:
    """Do one job; whatever happens, there is a report, with one of each rival.

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
        ended = partial(report_of, outcome=Outcome.PASSED, reason=done.reason, timings=done.timings)
    except (EvaluationError, ProblemError) as error:
        ended = partial(failure_of, error=error)
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        ended = partial(failure_of, error=error)
    reports = [progress.left.get(arm) or ended(job, progress, arm) for arm in job.contenders]
    return replace(reports[0], rivals=tuple(reports[1:]))
