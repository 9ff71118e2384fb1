"""The judge's side of a job that counts: inputs of its one case, and one question."""

from __future__ import annotations

from campaigns.evaluator.contract import Phase
from campaigns.evaluator.judge.progress import JudgeDone, JudgeTask
from campaigns.evaluator.screen.stream_runner import StreamRunner
from campaigns.evaluator.wire import Ask


def run(task: JudgeTask) -> JudgeDone:
    """Have the candidate run under a profiler on fresh inputs of the job's first case."""
    job, runner = task.job, StreamRunner(task)
    task.progress.enter(Phase.CHECK)
    layout = runner.fill_slot(job.cases[0])
    runner.channel.ask(Ask.COUNT, layout, job.protocol.limits.total_s)
    return JudgeDone("counted by a profiler")
