"""The judge's side of a job that asks for sanitizers: inputs of one case, and one question."""

from __future__ import annotations

from campaigns.evaluator.contract import Phase
from campaigns.evaluator.judge.progress import JudgeDone, JudgeTask
from campaigns.evaluator.screen.stream_runner import StreamRunner
from campaigns.evaluator.wire import Ask


def run(task: JudgeTask) -> JudgeDone:
    """Have the candidate run under sanitizers on fresh inputs of its smallest case."""
    job, runner = task.job, StreamRunner(task)
    task.progress.enter(Phase.CHECK)
    case = min(job.cases, key=lambda each: runner.layouts[each.name].stride)
    layout = runner.fill_slot(case)
    runner.channel.ask(Ask.SANITIZE, layout, job.protocol.limits.total_s)
    return JudgeDone("checked by sanitizers")
