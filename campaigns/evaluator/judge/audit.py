"""Bursts that are looked at halfway: does every call do its own work, and at its own time?

A burst's time is shared out evenly over its calls, so a call that does the work of others on the
side (all slots at once on many cores, or everything in the last call) would make a kernel look
faster than any single call is. Outputs of honest calls appear one after the other and evenly, and
a call takes as long alone as among others. An audit is a burst like any other until the judge
looks, so nobody can behave for it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.judge.alone import Alone
from campaigns.evaluator.judge.arena import Slots
from campaigns.evaluator.judge.bench import Bench
from campaigns.evaluator.judge.burst import run_burst
from campaigns.evaluator.judge.channel import Channel
from campaigns.evaluator.judge.looks import POSITIONS, Spots
from campaigns.evaluator.judge.stage import Stage
from campaigns.evaluator.layout import ITEM_BYTES, TensorArg

# How often there is a look before a sample.
SHARE = 1 / 4
# Looks that say something: so many if none is odd, else up to so many, and how many odd ones are
# believed. How often one is tried; some say nothing.
FIRST, MOST, ODD, TRIES = 2, 8, 6, 16
# With fewer calls, or within this time, there is no order to be seen.
LEAST_CALLS, LEAST_S = 6, 2e-4
# Of values of one byte so many that a call which was made has changed one of them.
NARROW_POSITIONS = 64
# One slot is being written when the judge looks; one more may lie between its reads.
UNDER_WAY = 2
# When to look, in shares of the usual time. An honest burst is about as far as its time is. On a
# busy host it is behind, the more so the shorter it is: the runner had to be woken, and its threads
# wait for cores. What stores its calls up and answers in the end has nothing to show for a share.
LOOK = (0.45, 0.75)
WAKE_S, LEAST_PACE_S, BEHIND = 2e-3, 4e-3, 1 / 4
# In a shorter burst nothing at all may be there so late only once in a while: one whose runner woke
# that late takes longer than usual, and says nothing.
LEAST_EMPTY_S = 5e-4
# An audit whose burst took this much longer than usual says nothing: something held the cores.
DISTURBED = 1.5


@dataclass(frozen=True, slots=True)
class Glance:
    """What one look saw: share of slots begun, slots before those that were not finished, time.

    share: of the burst's time that had passed since the runner must have woken, or None when that
    can not be said. at_s: when it was, of a burst of calls that are made one by one; else 0.
    """

    begun: float
    unfinished: int
    share: float | None
    at_s: float = 0.0

    @property
    def words(self) -> str:
        when = "halfway" if self.share is None else f"at {self.share:.0%} of its time"
        return f"{self.begun:.0%} begun {when}, {self.unfinished} unfinished before others"

    @property
    def says_something(self) -> bool:
        return self.begun < 1 or self.unfinished > UNDER_WAY

    @property
    def odd(self) -> bool:
        if self.share is None:
            late = not self.begun and self.at_s >= LEAST_EMPTY_S
        else:
            late = self.begun < BEHIND * self.share
        return self.unfinished > UNDER_WAY or late


class Audit:
    """Looks into the bursts of one arm: at first, now and then between samples, and at the end.

    idle_s: what a burst of no calls takes. Every look raises what `Channel.blame` makes of odd
    bursts.
    """

    def __init__(self, bench: Bench, channel: Channel, slots: Slots, idle_s: float) -> None:
        self._bench, self._channel, self._slots = bench, channel, slots
        self._idle_s = idle_s
        self._alone = Alone(bench, channel, slots, idle_s)
        self._arg = _telling(slots)
        self._calls = 0
        self._usual_s = 0.0

    def begin(self, calls: int) -> float:
        """Look into some bursts of `calls` calls; seconds that a call takes at the least."""
        self._calls = calls
        self._usual_s = min(self._burst() for _ in range(2))
        self._look_into()
        if not self._is_call_by_call:
            return 0.0
        return self._alone.least_s(self._calls, self._together_s())

    def end(self, typical_s: float) -> float:
        """Seconds that a call takes at the least, now that samples have shown `typical_s`.

        Who was honest when it was first asked is asked again, by what its samples say: no call is
        shorter alone than its work is.
        """
        if not self._is_call_by_call:
            return 0.0
        self._usual_s = min(self._burst() for _ in range(2))
        # The host may be busier than it was: a call alone is held against others of the same time.
        return self._alone.least_s(self._calls, max(typical_s, self._together_s()))

    def maybe_look(self) -> None:
        """By chance one look between samples: who was honest at first is not done with it."""
        if self._bench.supply.draw.random() >= SHARE or not self._tells:
            return
        seen = self._glance()
        if seen is not None and seen.odd:
            self._look_into()

    def _together_s(self) -> float:
        return (self._usual_s - self._idle_s) / self._calls

    @property
    def _is_call_by_call(self) -> bool:
        return self._bench.device.type == "cpu" and self._calls > 1

    @property
    def _tells(self) -> bool:
        return self._calls >= LEAST_CALLS and self._arg is not None and self._usual_s >= LEAST_S

    def _burst(self) -> float:
        return run_burst(self._bench, self._channel, self._slots, self._calls)

    def _glance(self) -> Glance | None:
        """One burst with a look into it; None where it says nothing."""
        if self._arg is None:
            return None
        delay_s = self._bench.supply.draw.uniform(*LOOK) * self._usual_s
        peek = _Peek(self._arg, delay_s)
        took_s = run_burst(self._bench, self._channel, self._slots, self._calls, look=peek)
        glance = peek.glance(took_s)
        disturbed = took_s > DISTURBED * self._usual_s
        return None if disturbed or not glance.says_something else glance

    def _look_into(self) -> None:
        """Do outputs appear one after the other, and evenly?"""
        seen = odd = 0
        for _ in range(TRIES if self._tells else 0):
            if (glance := self._glance()) is None:
                continue
            seen, odd = seen + 1, odd + glance.odd
            if odd >= ODD:
                raise self._channel.blame(
                    Outcome.CHEATED,
                    "calls did each other's work: halfway through a burst its outputs had not "
                    f"appeared one after the other ({glance.words})",
                )
            if seen >= (MOST if odd else FIRST):
                return


def _telling(slots: Slots) -> TensorArg | None:
    """The output that tells most of what was written when.

    One whose values are many enough never to be poison by chance; of those the largest that is
    poisoned all over rather than one that starts with contents of its own.
    """
    telling = [arg for arg in slots.layout.outputs if not _is_narrow(arg) or arg.count > POSITIONS]
    return max(
        telling, key=lambda arg: (not _is_narrow(arg), not arg.update, arg.count), default=None
    )


def _is_narrow(arg: TensorArg) -> bool:
    """Whether a value may well be what the poison was."""
    return ITEM_BYTES[arg.dtype] == 1


def share_passed(at_s: float, seconds: float) -> float | None:
    """Of a burst's time after the runner must have woken, what had passed at `at_s`."""
    if seconds < LEAST_PACE_S or at_s <= WAKE_S:
        return None
    return (at_s - WAKE_S) / (seconds - WAKE_S)


class _Peek:
    """A look after `delay_s` at a few positions of every output, and how they were before."""

    def __init__(self, arg: TensorArg, delay_s: float) -> None:
        self._arg = arg
        self._delay_s = delay_s
        self._at_s = 0.0

    def ready(self, stage: Stage) -> None:
        self._stage = stage
        self._is_narrow = _is_narrow(self._arg)
        # Read from the last call to the first: what is seen early was written early.
        each = NARROW_POSITIONS if self._is_narrow else POSITIONS
        self._spots = Spots(stage, self._arg, stage.order[::-1], each)

    def during(self, started: float) -> None:
        time.sleep(self._delay_s)
        # Before the look: what holds the judge up now makes outputs appear early, never late.
        self._at_s = time.perf_counter() - started
        self._seen = self._spots.read()
        self._stage.bench.wait()

    def glance(self, seconds: float) -> Glance:
        """What was seen, in a burst that took `seconds` in all."""
        share = share_passed(self._at_s, seconds)
        at_s = self._at_s if self._stage.bench.device.type == "cpu" else 0.0
        changed = self._spots.changed(self._seen)[self._spots.tells].flip(0)
        if len(changed) < LEAST_CALLS:
            return Glance(1.0, 0, None)
        begun = changed.any(1)
        # Of one that is narrow a part stays as it was by chance, whatever is written.
        finished = begun if self._is_narrow else changed.all(1)
        touched = int(begun.sum())
        if not touched:
            return Glance(0.0, 0, share, at_s)
        last = int(torch.nonzero(begun)[-1])
        return Glance((last + 1) / len(begun), int((~finished[:last]).sum()), share, at_s)
