"""The judge's side of a job that explains its candidate: one question, and nothing is timed.

Its machine code is read, or it runs under a tool: sanitizers or a profiler.
"""

from __future__ import annotations

from campaigns.evaluator.contract import Phase
from campaigns.evaluator.judge.progress import JudgeDone, JudgeTask
from campaigns.evaluator.screen.stream_runner import StreamRunner
from campaigns.evaluator.wire import Ask


def run(task: JudgeTask) -> JudgeDone:
    """The first case; for sanitizers, which are slow, the smallest."""
    job, runner = task.job, StreamRunner(task)
    case, ask = job.cases[0], Ask.COUNT
    if job.sanitize:
        case, ask = min(job.cases, key=lambda one: runner.layouts[one.name].stride), Ask.SANITIZE
    if job.read_code:
        layout, channel, ask = runner.layouts[case.name], runner.channel, Ask.READ_CODE
        task.progress.enter(Phase.BUILD)
        channel.case, channel.phase = case.name, Phase.BUILD
    else:
        task.progress.enter(Phase.CHECK)
        layout = runner.fill_slot(case)
    runner.channel.ask(ask, layout, job.protocol.limits.total_s)
    return JudgeDone("explained")
