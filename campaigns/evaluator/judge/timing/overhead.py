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

from campaigns.evaluator.judge.timing.burst import idle_awake, idle_burst
from campaigns.evaluator.judge.timing.proof import Lane
from campaigns.evaluator.wire import Ask

TRIES = 5
# How long the device works in bursts that measure the growth, in shares of a burst.
STAYS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
ROUNDS = 4
# More than this for twice the length is a disturbance; taken off, a kernel would seem faster.
MOST_DOUBLING_S = 2e-5
# Seconds of a burst, and those of them in which the device was idle.
Point = tuple[float, float]
# Extra time of a burst for waking a kernel's threads: for two, and for each further CPU.
WAKING_S, WAKING_EACH_S = 6e-5, 5e-6


@dataclass(frozen=True, slots=True)
class Growth:
    """How a burst's overhead grows: by `doubling_s` whenever its length doubles.

    shortest_s, longest_s: of the measured bursts; beyond them nothing is added.
    """

    doubling_s: float = 0.0
    shortest_s: float = 1.0
    longest_s: float = 1.0

    @classmethod
    def fitted(cls, points: Sequence[Point]) -> Growth:
        """The line through (seconds of a burst, seconds of overhead), by least squares.

        A line, because single bursts scatter by more than overhead grows: correcting by single
        points would add as much error as it removes.
        """
        lengths, overheads = [list(column) for column in zip(*points, strict=True)]
        doubling_s = float(numpy.polyfit(numpy.log2(lengths), overheads, 1)[0])
        return cls(min(max(0.0, doubling_s), MOST_DOUBLING_S), min(lengths), max(lengths))

    def at(self, seconds: float) -> float:
        """Seconds of overhead more than that of the shortest burst."""
        known_s = min(max(seconds, self.shortest_s), self.longest_s)
        return self.doubling_s * math.log2(known_s / self.shortest_s)


@dataclass(frozen=True, slots=True)
class Overhead:
    """Seconds of a burst of no calls. cold: with emptied caches, the median; warm: the least.

    awake: the least of a runner that was not stopped before; 0 where the kernel runs on a GPU.
    """

    cold_s: float
    warm_s: float
    growth: Growth
    awake_s: float = 0.0

    @property
    def allowed_s(self) -> float:
        """The largest part of a timed burst that its calls need not explain."""
        return self.cold_s + waking_s()


def measure(lane: Lane, growth: Growth) -> Overhead:
    """Measure before a candidate is loaded: later its process could make such a burst slow."""
    warm, cold = ([idle_burst(lane, cold=cold) for _ in range(TRIES)] for cold in (False, True))
    on_cpu = lane.context.device.type == "cpu"
    awake = [idle_awake(lane) for _ in range(TRIES)] if on_cpu else [0.0]
    return Overhead(statistics.median(cold), min(warm), growth, min(awake))


def measure_growth(lanes: Sequence[Lane], burst_ms: float) -> Growth:
    """Measure bursts of no calls in which the device works, before a candidate is loaded.

    burst_ms: how long bursts will be, about. The growth is a property of the host, so one value
    serves both arms and favours neither. It is zero where the kernel runs on a CPU.
    """
    if any(lane.context.device.type != "cuda" for lane in lanes):
        return Growth()

    def stay(lane: Lane, ms: float) -> Point:
        """A burst in which the device works for `ms`."""
        channel, limit_s = lane.channel, lane.context.limit_s
        channel.ask(Ask.STAY, ms, limit_s)
        rest_s = (burst_ms - ms) * 1e-3
        seconds = idle_burst(lane, cold=True, rest_s=rest_s)
        worked_s = channel.ask(Ask.STAY, 0.0, limit_s).x
        return seconds, seconds - worked_s

    # Alternating, so that a change of the host affects all of them.
    stays_ms = [share * burst_ms for share in STAYS]
    rounds = [[[stay(lane, ms) for ms in stays_ms] for lane in lanes] for _ in range(ROUNDS)]
    # The first round runs with cold code. A median of so few would show what disturbed one of them.
    by_length = zip(*chain.from_iterable(rounds[1:]), strict=True)
    points = [min(seen, key=lambda point: point[1]) for seen in by_length]
    return Growth.fitted(points)


def waking_s() -> float:
    """How long the threads of an honest kernel may take to wake on this host."""
    return WAKING_S + WAKING_EACH_S * (os.cpu_count() or 1)
