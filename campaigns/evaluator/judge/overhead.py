"""What a burst takes besides its calls, measured while its runner has loaded nothing yet.

Overhead cancels from the difference of two bursts when it is the same in both. That is up to the
candidate, whose process is told how many calls a burst has: slow in the short one alone, it would
make its calls look shorter than they are. How much overhead there can be is not up to it, so it
bounds a call's time from below: a long burst, less that much, shared out over its calls.
"""

from __future__ import annotations

import os
import statistics
from dataclasses import dataclass

from campaigns.evaluator.judge.arena import Slots
from campaigns.evaluator.judge.bench import Bench
from campaigns.evaluator.judge.burst import idle_burst
from campaigns.evaluator.judge.channel import Channel

TRIES = 5
# What a burst may take on top for waking the threads of a kernel: two of them, and each other one.
WAKING_S, WAKING_EACH_S = 6e-5, 5e-6


@dataclass(frozen=True, slots=True)
class Overhead:
    """Seconds of a burst of no calls. cold: with emptied caches, as usual; warm: at the least."""

    cold_s: float
    warm_s: float

    @property
    def allowed_s(self) -> float:
        """The most of a timed burst that its calls may leave unexplained."""
        return self.cold_s + waking_s()


def measure(bench: Bench, channel: Channel, slots: Slots) -> Overhead:
    """Before the candidate's first byte; later a burst of no calls is what its process makes it."""
    warm, cold = (
        [idle_burst(bench, channel, slots, cold=cold) for _ in range(TRIES)]
        for cold in (False, True)
    )
    return Overhead(cold_s=statistics.median(cold), warm_s=min(warm))


def waking_s() -> float:
    """How long the threads of an honest kernel may take to wake on this host."""
    return WAKING_S + WAKING_EACH_S * (os.cpu_count() or 1)
