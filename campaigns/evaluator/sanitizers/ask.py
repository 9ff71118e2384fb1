"""The judge's side of a job that asks for sanitizers: inputs of one case, and one question."""

from __future__ import annotations

import secrets

import torch

from campaigns.evaluator.contract import Phase
from campaigns.evaluator.judge.correctness.fresh_inputs import EXAMPLE_BITS
from campaigns.evaluator.judge.progress import JudgeDone, JudgeTask
from campaigns.evaluator.screen.stream_runner import StreamRunner
from campaigns.evaluator.wire import Ask


def run(task: JudgeTask) -> JudgeDone:
    """Have the candidate run under sanitizers on fresh inputs of its smallest case."""
    job, runner = task.job, StreamRunner(task)
    task.progress.enter(Phase.CHECK)
    case = min(job.cases, key=lambda each: runner.layouts[each.name].stride)
    layout, channel = runner.layouts[case.name], runner.channel
    channel.case, channel.phase = case.name, Phase.CHECK
    slot = runner.arenas.slots(channel, layout, 1)
    seed = secrets.randbits(EXAMPLE_BITS)
    given = runner.reference.example(case, seed, job.device).inputs
    for arg in layout.tensors:
        slot.one(arg, 0).copy_(given[arg.name])
    if runner.device.type == "cuda":
        torch.cuda.synchronize(runner.device)
    channel.ask(Ask.SANITIZE, layout, job.protocol.limits.total_s)
    return JudgeDone("checked by sanitizers")
