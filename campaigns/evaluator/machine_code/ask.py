"""The judge's side of a job that reads machine code: one question, and nothing is run."""

from __future__ import annotations

from campaigns.evaluator.contract import Phase
from campaigns.evaluator.judge.progress import JudgeDone, JudgeTask
from campaigns.evaluator.screen.stream_runner import StreamRunner
from campaigns.evaluator.wire import Ask


def run(task: JudgeTask) -> JudgeDone:
    """Have the candidate's machine code read, built for its first case."""
    runner, case = StreamRunner(task), task.job.cases[0]
    task.progress.enter(Phase.BUILD)
    channel = runner.channel
    channel.case, channel.phase = case.name, Phase.BUILD
    channel.ask(Ask.READ_CODE, runner.layouts[case.name], task.job.protocol.limits.total_s)
    return JudgeDone("its machine code was read")
