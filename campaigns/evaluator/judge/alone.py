"""A call alone held against one among others, where calls are made one by one.

A call that does the work of others on the side, or has them do its own, looks shorter in a burst
than it is. Alone it can never be shorter than its work is. It is measured with warm caches, so an
honest one is rather faster alone, but for waking its threads.
"""

from __future__ import annotations

import math

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.judge.arena import Slots
from campaigns.evaluator.judge.bench import Bench
from campaigns.evaluator.judge.burst import idle_burst, run_burst
from campaigns.evaluator.judge.channel import Channel
from campaigns.evaluator.judge.overhead import waking_s
from campaigns.evaluator.judge.stage import WARM

# Trying again costs only a cheat; an honest one may have to wait for free cores.
TRIES, ROUNDS = 3, 16
# How often a burst of no calls is made again where a call still looks longer alone.
IDLE_TRIES = 9
# What a call takes longer alone than NEAR one among others counts as a call's time; over RATIO,
# nothing honest explains it, unless calls are so short that whatever one sets off elsewhere (it
# prints, say) is more than its work.
LEAST_CALL_S = 1e-4
NEAR, RATIO = 1.05, 1.5


class Alone:
    """One arm's calls. idle_s: what a burst of no calls took before it had loaded anything."""

    def __init__(self, bench: Bench, channel: Channel, slots: Slots, idle_s: float) -> None:
        self._bench, self._channel, self._slots, self._idle_s = bench, channel, slots, idle_s

    def least_s(self, calls: int, together_s: float) -> float:
        """Seconds that a call takes at the least; 0 where one among others takes as long as alone.

        together_s: of one among so many. Raises what `Channel.blame` makes of a call that takes
        far longer alone.
        """
        waking, alone_s = waking_s(), math.inf
        for _ in range(ROUNDS):
            alone_s = min(alone_s, min(self._one() for _ in range(TRIES)) - self._idle_s)
            if alone_s <= NEAR * together_s + waking:
                return 0.0
        waking += self._slower_s()
        if alone_s <= NEAR * together_s + waking:
            return 0.0
        if together_s < LEAST_CALL_S or alone_s <= RATIO * together_s + waking:
            return (alone_s - waking) / NEAR
        raise self._channel.blame(
            Outcome.CHEATED,
            f"calls did each other's work: one alone takes {alone_s * 1e6:.0f} µs, one of "
            f"{calls} in a burst {together_s * 1e6:.0f} µs",
        )

    def _one(self) -> float:
        return run_burst(self._bench, self._channel, self._slots, 1, WARM)

    def _slower_s(self) -> float:
        """How much longer a burst of no calls takes than at first: the host may be slower by now.

        It may be slow on purpose as well, since the candidate lives in that process: what counts is
        as much again as it took at first, at the most.
        """
        now_s = min(
            idle_burst(self._bench, self._channel, self._slots, cold=False)
            for _ in range(IDLE_TRIES)
        )
        return min(max(0.0, now_s - self._idle_s), self._idle_s)
