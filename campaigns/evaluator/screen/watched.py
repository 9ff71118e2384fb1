"""The judge's side of a job whose candidate runs under a tool: sanitizers, or a profiler.

Inputs of one case, and one question; nothing is timed here.
"""

from __future__ import annotations

from campaigns.evaluator.contract import Phase
from campaigns.evaluator.judge.progress import JudgeDone, JudgeTask
from campaigns.evaluator.screen.stream_runner import StreamRunner
from campaigns.evaluator.wire import Ask


def run(task: JudgeTask) -> JudgeDone:
    """On fresh inputs: the smallest case for sanitizers, which are slow, the first for counters."""
    job, runner = task.job, StreamRunner(task)
    task.progress.enter(Phase.CHECK)
    case, ask = job.cases[0], Ask.COUNT
    if job.sanitize:
        case, ask = min(job.cases, key=lambda one: runner.layouts[one.name].stride), Ask.SANITIZE
    layout = runner.fill_slot(case)
    runner.channel.ask(ask, layout, job.protocol.limits.total_s)
    return JudgeDone("watched by a tool")
