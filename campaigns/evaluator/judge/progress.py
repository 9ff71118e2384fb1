"""What a judge is started with, and what it has found so far."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from campaigns.evaluator.contract import CaseReport, Job, Look, Moment, Phase, Timing
from campaigns.evaluator.contract.problem import ProblemSpec


@dataclass
class JudgeProgress:
    """What is known so far; becomes the report, however the evaluation ends."""

    pipe: int
    phase: Phase = Phase.START
    checked: dict[str, CaseReport] = field(default_factory=dict)
    wall_s: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    surroundings: list[Moment] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    _since: float = field(default_factory=time.monotonic)

    def tell(self, line: str) -> None:
        """Pass a line of a stream on; short enough for a pipe to take it whole."""
        os.write(self.pipe, line.encode() + b"\n")

    def enter(self, phase: Phase, detail: str = "") -> None:
        now = time.monotonic()
        self.wall_s[self.phase] = self.wall_s.get(self.phase, 0.0) + now - self._since
        self.phase, self._since = phase, now
        os.write(self.pipe, f"phase {phase} {detail}\n".encode())


@dataclass(frozen=True, slots=True)
class JudgeTask:
    """One job with the sockets to its runners and its reference.

    read_problem: reads the folder of the problem; raises ProblemError. orders: the lines that
    follow a job that is a stream.
    """

    job: Job
    channels: Mapping[str, socket.socket]
    progress: JudgeProgress
    read_problem: Callable[[Path], ProblemSpec]
    orders: Iterable[str] = ()


@dataclass(frozen=True, slots=True)
class JudgeDone:
    """A job that came to its end. timings: by case and arm, empty where nothing was timed."""

    reason: str
    timings: Mapping[str, Mapping[str, Timing]] = field(default_factory=dict)


# Does a job to its end. Raises CandidateError, HostError, ProblemError.
Work = Callable[[JudgeTask], JudgeDone]
