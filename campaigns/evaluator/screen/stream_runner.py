"""The judge's side of the one runner of a stream: its channel, its memory, the cases' layouts."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch

from campaigns.evaluator import problem as problems
from campaigns.evaluator.contract import Job
from campaigns.evaluator.judge.arena_layout import ArenaLayout
from campaigns.evaluator.judge.channel import RunnerChannel, TimeBudget
from campaigns.evaluator.judge.integrity import device_environment
from campaigns.evaluator.judge.integrity.process_hold import ProcessHold
from campaigns.evaluator.layout import Layout
from campaigns.evaluator.reference.client import served_reference
from campaigns.evaluator.reference.serve import draw_apart
from campaigns.evaluator.wire import Ask

if TYPE_CHECKING:
    from campaigns.evaluator.judge.main import JudgeProgress

Channels = Mapping[str, socket.socket]


class StreamRunner:
    """A runner with the judge's memory open, and locked down."""

    def __init__(self, job: Job, channels: Channels, progress: JudgeProgress) -> None:
        self.device = torch.device(job.device)
        on_gpu = self.device.type == "cuda"
        if on_gpu:
            torch.cuda.set_device(self.device)
        # Judge and runner are forks of one process: what one draws the other must not.
        draw_apart()
        self._job = job
        self.spec = problems.load_problem(job.problem)
        hold = ProcessHold()
        reference = served_reference(job, channels, hold, progress.notes.append)
        self.arenas = ArenaLayout(job, self.spec, reference, None)
        total = TimeBudget(job.protocol.limits.total_s, lambda: reference.spent_s)
        name = "candidate"
        self.channel = RunnerChannel(name, channels[name], hold, spins=on_gpu, total=total)
        self.arenas.share({name: self.channel})
        progress.environment.update(device_environment.describe(self.device))

    @property
    def layouts(self) -> dict[str, Layout]:
        """By case."""
        return self.arenas.layouts

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
