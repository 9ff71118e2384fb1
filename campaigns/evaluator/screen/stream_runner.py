"""The judge's side of the one runner of a job beside judging: channel, memory, cases' layouts."""

from __future__ import annotations

import secrets

import torch

from campaigns.evaluator.contract import Case, Phase
from campaigns.evaluator.contract.layout import Layout
from campaigns.evaluator.judge.arena_layout import ArenaLayout
from campaigns.evaluator.judge.correctness.fresh_inputs import EXAMPLE_BITS
from campaigns.evaluator.judge.correctness.reference_client import served_reference
from campaigns.evaluator.judge.integrity.channel import RunnerChannel
from campaigns.evaluator.judge.integrity.process_hold import ProcessHold
from campaigns.evaluator.judge.integrity.time_budget import TimeBudget
from campaigns.evaluator.judge.progress import JudgeTask
from campaigns.evaluator.service.host_watch import describe
from campaigns.evaluator.wire import Ask


class StreamRunner:
    """A runner with the judge's memory open, and locked down."""

    def __init__(self, task: JudgeTask) -> None:
        job, channels, progress = task.job, task.channels, task.progress
        self.device = torch.device(job.device)
        on_gpu = self.device.type == "cuda"
        if on_gpu:
            torch.cuda.set_device(self.device)
        self._job = job
        self.spec = task.aids.read_problem(job.problem)
        hold = ProcessHold()
        self.reference = served_reference(job, channels, hold, progress.notes.append)
        self.arenas = ArenaLayout(task, self.spec, self.reference, None)
        self.watch = task.aids.watch(self.device)
        total = TimeBudget(
            job.protocol.limits.total_s,
            lambda: self.reference.spent_s,
            others=self.watch.others_share,
        )
        progress.is_crowded = total.is_crowded
        name = "candidate"
        self.channel = RunnerChannel(name, channels[name], hold, spins=on_gpu, total=total)
        self.arenas.share({name: self.channel})
        progress.environment.update(describe(self.device))

    @property
    def layouts(self) -> dict[str, Layout]:
        """By case."""
        return self.arenas.layouts

    def fill_slot(self, case: Case) -> Layout:
        """Fresh inputs of a case in the first slot, for a program of the runner's to read."""
        layout, channel = self.layouts[case.name], self.channel
        channel.case, channel.phase = case.name, Phase.CHECK
        slot = self.arenas.slots(channel, layout, 1)
        seed = secrets.randbits(EXAMPLE_BITS)
        given = self.reference.example(case, seed, self._job.device).inputs
        for arg in layout.tensors:
            slot.one(arg, 0).copy_(given[arg.name])
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return layout

    def look_alive(self, limit_s: float) -> None:
        """Have the runner, and its device, do next to nothing. Raises CandidateError."""
        channel = self.channel
        channel.ask(Ask.STAY, 0.0, limit_s)
        if channel.gate is not None:
            channel.pose(0, limit_s)
            channel.gate.go()
            channel.done(limit_s)

    def stop(self) -> None:
        self.channel.ask(Ask.STOP, None, self._job.protocol.limits.call_s)
