"""Overhead: what a burst takes besides its calls, measured before the runner has loaded anything.

Overhead cancels from the difference of two bursts when it is the same in both. It may differ for
two reasons. First, the candidate's process knows how many calls a burst has: if it were slow in the
short burst alone, its calls would seem shorter than they are. So measured overhead bounds a call's
time from below: a long burst, less the overhead, divided by its calls. Second, after some
milliseconds of waiting, the host's processors are slower to notice that a device has finished. The
judge makes its own part of this equal in all bursts (`BurstOptions.rest_s`) and measures the rest,
some 10 µs for twice the length.
"""

from __future__ import annotations

import math
import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy

from campaigns.evaluator.judge.arena import Slots
from campaigns.evaluator.judge.case_context import CaseContext
from campaigns.evaluator.judge.channel import RunnerChannel
from campaigns.evaluator.judge.timing.burst import idle_burst
from campaigns.evaluator.wire import Ask

TRIES = 5
# For how long the device works in the bursts that show the growth, in ms.
STAYS_MS = (1.0, 2.0, 4.0, 8.0, 16.0)
ROUNDS = 6
# What a burst may take on top for waking the threads of a kernel: two of them, and each other one.
WAKING_S, WAKING_EACH_S = 6e-5, 5e-6


@dataclass(frozen=True, slots=True)
class Growth:
    """How a burst's overhead grows with its length: by so many seconds whenever that doubles.

    shortest_s, longest_s: of the bursts that it is known from; beyond them nothing is added.
    """

    doubling_s: float = 0.0
    shortest_s: float = 1.0
    longest_s: float = 1.0

    @classmethod
    def fitted(cls, points: Sequence[tuple[float, float]]) -> Growth:
        """The line through (seconds of a burst, seconds of overhead), by least squares.

        A line, because single bursts scatter by more than overhead grows: each point alone would
        bring as much error into a time as it takes away.
        """
        lengths, overheads = [list(column) for column in zip(*points, strict=True)]
        doubling_s = float(numpy.polyfit(numpy.log2(lengths), overheads, 1)[0])
        return cls(max(0.0, doubling_s), min(lengths), max(lengths))

    def at(self, seconds: float) -> float:
        """Seconds that a burst of this length takes more than the shortest, besides its calls."""
        known_s = min(max(seconds, self.shortest_s), self.longest_s)
        return self.doubling_s * math.log2(known_s / self.shortest_s)


@dataclass(frozen=True, slots=True)
class Overhead:
    """Seconds of a burst of no calls. cold: with emptied caches, as usual; warm: at the least."""

    cold_s: float
    warm_s: float
    growth: Growth

    @property
    def allowed_s(self) -> float:
        """The most of a timed burst that its calls may leave unexplained."""
        return self.cold_s + waking_s()


def measure(context: CaseContext, channel: RunnerChannel, slots: Slots, growth: Growth) -> Overhead:
    """Before the candidate's first byte; later a burst of no calls is what its process makes it."""
    warm, cold = (
        [idle_burst(context, channel, slots, cold=cold) for _ in range(TRIES)]
        for cold in (False, True)
    )
    return Overhead(cold_s=statistics.median(cold), warm_s=min(warm), growth=growth)


def measure_growth(arms: Sequence[tuple[CaseContext, RunnerChannel, Slots]]) -> Growth:
    """By bursts of no calls in which the device works all the same; before that first byte, too.

    It is the host's, so it is one for both arms, and no error of it makes one of them faster.
    Nothing grows where the kernel runs on the processor that waits for it.
    """
    if any(context.device.type != "cuda" for context, _, _ in arms):
        return Growth()
    # In turn, so that a host that changes meanwhile changes all of them.
    rounds = [[[_stay(*arm, ms) for ms in STAYS_MS] for arm in arms] for _ in range(ROUNDS)]
    # The first round runs with cold code and tables.
    by_length = list(zip(*chain.from_iterable(rounds[1:]), strict=True))
    return Growth.fitted([(_median(seen, 0), _median(seen, 1)) for seen in by_length])


def _stay(
    context: CaseContext, channel: RunnerChannel, slots: Slots, ms: float
) -> tuple[float, float]:
    """Seconds of a burst in which the device works for `ms`, and those of them that it does not."""
    channel.ask(Ask.STAY, ms, context.limit_s)
    rest_s = (STAYS_MS[-1] - ms) * 1e-3
    seconds = idle_burst(context, channel, slots, cold=True, rest_s=rest_s)
    worked_s = channel.ask(Ask.STAY, 0.0, context.limit_s).x
    return seconds, seconds - worked_s


def _median(rows: Sequence[tuple[float, float]], column: int) -> float:
    return statistics.median(row[column] for row in rows)


def waking_s() -> float:
    """How long the threads of an honest kernel may take to wake on this host."""
    return WAKING_S + WAKING_EACH_S * (os.cpu_count() or 1)
