"""What a judge is started with, and what it has found so far."""

from __future__ import annotations

import os
import socket
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from campaigns.evaluator.contract import CaseReport, Job, Look, Moment, Phase, Report, Timing

if TYPE_CHECKING:
    import torch

    from campaigns.evaluator.contract.backends import Backend
    from campaigns.evaluator.contract.problem import ProblemSpec
    from campaigns.evaluator.judge.correctness.one_pass import Passes
    from campaigns.evaluator.service.host_watch import HostWatch


@dataclass
class JudgeProgress:
    """What is known so far; becomes the report, however the evaluation ends.

    checked: by arm and case. left: the reports of candidates that have failed, by arm. notes_of:
    notes on one arm alone, the others are on all.
    is_crowded: whether others keep the host so busy that even a time limit says little.
    """

    pipe: int
    phase: Phase = Phase.START
    checked: dict[str, dict[str, CaseReport]] = field(default_factory=lambda: defaultdict(dict))
    left: dict[str, Report] = field(default_factory=dict)
    wall_s: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    notes_of: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    environment: dict[str, str] = field(default_factory=dict)
    surroundings: list[Moment] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    is_crowded: Callable[[], bool] = lambda: False
    _since: float = field(default_factory=time.monotonic)

    def tell(self, line: str) -> None:
        """Pass a line of a stream on; short enough for a pipe to take it whole."""
        os.write(self.pipe, line.encode() + b"\n")

    def enter(self, phase: Phase, detail: str = "") -> None:
        self.count()
        self.phase = phase
        self.tell(f"phase {phase} {detail}")

    def count(self) -> Mapping[str, float]:
        """Seconds by phase until now."""
        now = time.monotonic()
        self.wall_s[self.phase] = self.wall_s.get(self.phase, 0.0) + now - self._since
        self._since = now
        return self.wall_s


@dataclass(frozen=True, slots=True)
class Aids:
    """What stands beside the judge. By none of it alone is a candidate accepted.

    read_problem: reads the folder of the problem; raises ProblemError. backend: what a backend says
    of itself, by name. watch: looks at a device and its host. memory: free bytes of a device, and
    those of its last cache before memory, 0 where not told. forecast: how long an evaluation will
    take, in words. may_end: whether more pairs would hardly change what is concluded. explain: the
    samples of a case, with what explains them. faster: passes over memory on a device, or None.
    """

    read_problem: Callable[[Path], ProblemSpec]
    backend: Callable[[str], Backend]
    watch: Callable[[torch.device], HostWatch]
    memory: Callable[[torch.device], tuple[int, int]]
    explain: Callable[..., Mapping[str, Timing]]
    forecast: Callable[..., str]
    may_end: Callable[[Mapping[str, list[tuple[float, float]]], float, float], bool]
    faster: Callable[[torch.device], Passes | None]


@dataclass(frozen=True, slots=True)
class JudgeTask:
    """One job with the sockets to its runners and its reference.

    orders: the lines that follow a job that is a stream. quiet: waits until no other crew starts
    its device.
    """

    job: Job
    channels: Mapping[str, socket.socket]
    progress: JudgeProgress
    aids: Aids
    orders: Iterable[str] = ()
    quiet: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class JudgeDone:
    """A job that came to its end. timings: by case and arm, empty where nothing was timed."""

    reason: str
    timings: Mapping[str, Mapping[str, Timing]] = field(default_factory=dict)


# Does a job to its end. Raises CandidateError, HostError, ProblemError.
Work = Callable[[JudgeTask], JudgeDone]
