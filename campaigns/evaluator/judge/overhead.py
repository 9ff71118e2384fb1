"""What a burst takes besides its calls, measured while its runner has loaded nothing yet.

Overhead cancels from the difference of two bursts when it is the same in both. For two reasons it
need not be. One is the candidate, whose process is told how many calls a burst has: slow in the
short one alone, it would make its calls look shorter than they are. How much overhead there can be
is not up to it, so it bounds a call's time from below: a long burst, less that much, shared out
over its calls. The other is the host: after some milliseconds of waiting its processors are slower
to notice that a device has finished, by about 0.1 ms. How much that is, is measured as well.
"""

from __future__ import annotations

import os
import statistics
from dataclasses import dataclass

import numpy

from campaigns.evaluator.judge.arena import Slots
from campaigns.evaluator.judge.bench import Bench
from campaigns.evaluator.judge.burst import idle_burst
from campaigns.evaluator.judge.channel import Channel
from campaigns.evaluator.wire import Ask

TRIES = 5
# For how long the device works in the bursts that show the growth, in ms.
STAYS_MS = (0.25, 1.0, 4.0, 16.0)
ROUNDS = 10
# What a burst may take on top for waking the threads of a kernel: two of them, and each other one.
WAKING_S, WAKING_EACH_S = 6e-5, 5e-6


@dataclass(frozen=True, slots=True)
class Growth:
    """How a burst's overhead grows with its length. points: (seconds of a burst, overhead in s)."""

    points: tuple[tuple[float, float], ...] = ()

    def at(self, seconds: float) -> float:
        """Seconds that a burst of this length takes more than the shortest, besides its calls."""
        if not self.points:
            return 0.0
        lengths, overheads = [list(column) for column in zip(*self.points, strict=True)]
        return max(0.0, float(numpy.interp(seconds, lengths, overheads) - overheads[0]))


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


def measure(bench: Bench, channel: Channel, slots: Slots, growth: Growth) -> Overhead:
    """Before the candidate's first byte; later a burst of no calls is what its process makes it."""
    warm, cold = (
        [idle_burst(bench, channel, slots, cold=cold) for _ in range(TRIES)]
        for cold in (False, True)
    )
    return Overhead(cold_s=statistics.median(cold), warm_s=min(warm), growth=growth)


def measure_growth(bench: Bench, channel: Channel, slots: Slots) -> Growth:
    """By bursts of no calls in which the device works all the same; before that first byte, too.

    Nothing grows where the kernel runs on the processor that waits for it.
    """
    if bench.device.type != "cuda":
        return Growth()
    took: dict[float, list[tuple[float, float]]] = {ms: [] for ms in STAYS_MS}
    for _ in range(ROUNDS):
        # In turn, so that a host that changes meanwhile changes all of them.
        for ms, seen in took.items():
            channel.ask(Ask.STAY, ms, bench.limit_s)
            seconds = idle_burst(bench, channel, slots, cold=True)
            worked_s = channel.ask(Ask.STAY, 0.0, bench.limit_s).x
            seen.append((seconds, seconds - worked_s))
    # The first round finds code and tables that nobody has used yet.
    return Growth(tuple((_median(seen, 0), _median(seen, 1)) for seen in took.values()))


def _median(rows: list[tuple[float, float]], column: int) -> float:
    return statistics.median(row[column] for row in rows[1:])


def waking_s() -> float:
    """How long the threads of an honest kernel may take to wake on this host."""
    return WAKING_S + WAKING_EACH_S * (os.cpu_count() or 1)
