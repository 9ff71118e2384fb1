"""Does every call of a burst do its own work, at its own time, and is it right among others?

A burst's time is divided evenly over its calls, so a call that does the work of others (all slots
at once on many cores, or everything in the last call) would make a kernel look faster than any
single call is. Outputs of honest calls appear one after the other and evenly, and a call takes as
long alone as among others. A kernel can also recognise a check, whose calls are not in a row, and
be careful only there; so some slots of a probed burst hold inputs that `setup` would hardly draw.
Times of probed bursts are not used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.judge.correctness.trial import Trial, sets_as_trials
from campaigns.evaluator.judge.timing.burst import call_awake, idle_burst, run_burst
from campaigns.evaluator.judge.timing.overhead import Overhead, waking_s
from campaigns.evaluator.judge.timing.probed_burst import (
    LEAST_CALLS,
    POSITIONS,
    ProbedBurst,
    ProbeReading,
    is_narrow,
)
from campaigns.evaluator.judge.timing.proof import USUAL, WARM, Lane

if TYPE_CHECKING:
    from campaigns.evaluator.contract.problem import CheckSpec

# How often a burst is probed before a sample, and how many of those are salted.
SHARE, SALTED = 1 / 2, 1 / 2
# How many slots of a burst hold unusual inputs, at the most.
MOST_SALTED = 4
# How many readings that say something are taken: FIRST if none is odd, else up to MOST, of which
# ODD have to be odd. How many probes are tried for them; some say nothing.
FIRST, MOST, ODD, TRIES = 2, 8, 6, 16
# A shorter burst shows no order.
LEAST_S = 2e-4
# When to read, in shares of the usual time. A kernel that collects its calls and answers in the end
# has written nothing by then.
WHEN = (0.45, 0.75)
# A probe whose burst took this much longer than usual says nothing: something held the cores.
DISTURBED = 1.5
# Of one call alone: more tries help only an honest call, which may have to wait for free cores. So
# many at once before it is compared with new bursts.
ALONE_TRIES, FEW = 48, 3
# How often a burst of no calls is made again where a call still seems longer alone.
IDLE_TRIES = 9
# What a call takes longer alone than NEAR one among others counts as its time. Over RATIO nothing
# honest explains it, unless calls are so short that their side effects (printing, for example) take
# longer than their work.
LEAST_CALL_S = 1e-4
NEAR, RATIO = 1.05, 1.5


class MidBurstProbe:
    """Probes the bursts of one arm: by chance between samples, and at the end.

    overhead: what a burst of no calls took before the runner had loaded anything. Every method
    raises what `RunnerChannel.blame` makes of odd bursts and wrong calls.
    """

    def __init__(self, lane: Lane, check: CheckSpec, overhead: Overhead) -> None:
        self._lane, self._context, self._channel = lane, lane.context, lane.channel
        self._check = check
        self._idle_s, self._awake_s = overhead.warm_s, overhead.awake_s
        # The output that shows best which calls have been made: one whose values cannot equal the
        # poison by chance; of those the largest that is poisoned all over, rather than one that is
        # updated in place.
        outputs = lane.slots.layout.outputs
        telling = [arg for arg in outputs if not is_narrow(arg) or arg.count > POSITIONS]
        self._arg = max(
            telling, key=lambda arg: (not is_narrow(arg), not arg.update, arg.count), default=None
        )
        self._usual_s = 0.0
        # The least of the calls alone that were made last.
        self._alone_s = math.inf
        self.calls = 0

    def begin(self, calls: int) -> float:
        """Time some bursts of `calls` calls; seconds that a call takes at the least."""
        self.calls = calls
        self._time_bursts()
        return self.least_s(self._together_s()) if self._is_call_by_call else 0.0

    def maybe(self) -> None:
        """By chance one probe between samples: a kernel may be honest at first only."""
        draw = self._context.supply.draw
        if draw.random() >= SHARE:
            return
        if draw.random() < SALTED:
            self._probe(list(islice(self._trials(), self._most_salted)))
        elif self._shows_order:
            self._probe(())

    def end(self, typical_s: float) -> float:
        """Probe with all unusual inputs, and for order; seconds that a call takes at the least.

        typical_s: of a call, by the samples. Calls alone are compared with it again, since a kernel
        may be honest at first only: no call is shorter alone than its work is.
        """
        trials = self._trials()
        while few := list(islice(trials, self._most_salted)):
            self._probe(few)
        self._require_order()
        if not self._is_call_by_call or self._is_as_long(typical_s, FEW):
            return 0.0
        self._time_bursts()
        # The host may be busier than before, so calls alone are compared with bursts of the same
        # time.
        return self.least_s(max(typical_s, self._together_s()))

    def least_s(self, together_s: float) -> float:
        """Seconds that a call takes at the least; 0 where one among others takes as long as alone.

        together_s: of one among others. Alone, with warm caches, an honest call is rather faster,
        but for waking its threads. So calls alone are made by a runner that was stopped, whose
        inputs cannot come in the meantime, and by one that is awake; the least counts, since none
        is shorter than its work.
        """
        if self._is_as_long(together_s, ALONE_TRIES):
            return 0.0
        # A burst of no calls may take longer than at first: the host may be slower by now. The
        # candidate could slow its process on purpose, so at most as much again as at first counts.
        now_s = min(idle_burst(self._lane, cold=False) for _ in range(IDLE_TRIES))
        slower_s = min(max(0.0, now_s - self._idle_s), self._idle_s)
        alone_s, waking = self._alone_s, waking_s() + slower_s
        if alone_s <= NEAR * together_s + waking:
            return 0.0
        if together_s < LEAST_CALL_S or alone_s <= RATIO * together_s + waking:
            return (alone_s - waking) / NEAR
        raise self._channel.blame(
            Outcome.CHEATED,
            f"calls did each other's work: one alone takes {alone_s * 1e6:.0f} µs, one of "
            f"{self.calls} in a burst {together_s * 1e6:.0f} µs",
        )

    def _is_as_long(self, together_s: float, tries: int) -> bool:
        """Whether the least of some calls alone is no longer than one among others."""
        self._alone_s = math.inf
        for _ in range(tries):
            self._alone_s = min(self._alone_s, self._burst(1) - self._idle_s)
            awake_s = call_awake(self._lane)
            self._alone_s = min(self._alone_s, awake_s - self._awake_s)
            if self._alone_s <= NEAR * together_s + waking_s():
                return True
        return False

    @property
    def _is_call_by_call(self) -> bool:
        return self._context.device.type == "cpu" and self.calls > 1

    @property
    def _shows_order(self) -> bool:
        return self.calls >= LEAST_CALLS and self._arg is not None and self._usual_s >= LEAST_S

    def _together_s(self) -> float:
        return (self._usual_s - self._idle_s) / self.calls

    def _time_bursts(self) -> None:
        self._usual_s = min(self._burst(self.calls) for _ in range(2))

    def _burst(self, calls: int) -> float:
        options = WARM if calls == 1 else USUAL
        return run_burst(self._lane, calls, options)

    @property
    def _most_salted(self) -> int:
        """How many calls of a burst get unusual inputs; those of all would not fit a device."""
        return min(self.calls, MOST_SALTED, self._context.proven_at_once)

    def _trials(self) -> Iterator[Trial]:
        """Unusual inputs, made from an example drawn for them, in random order, on demand."""
        example = self._context.supply.example()
        return sets_as_trials(self._context, self._check, example, shuffled=True)

    def _probe(self, trials: Sequence[Trial]) -> None:
        glance = self._glance(trials)
        if glance is not None and glance.odd:
            self._require_order()

    def _require_order(self) -> None:
        """Check that outputs appear one after the other, and evenly."""
        seen = odd = 0
        for _ in range(TRIES if self._shows_order else 0):
            if (glance := self._glance(())) is None:
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

    def _glance(self, trials: Sequence[Trial]) -> ProbeReading | None:
        """One probed burst; None where its order says nothing."""
        arg = self._arg if self._shows_order else None
        delay_s = self._context.supply.draw.uniform(*WHEN) * self._usual_s
        probed = ProbedBurst(trials, arg, delay_s)
        took_s = run_burst(self._lane, self.calls, probed=probed)
        if arg is None:
            return None
        if took_s > DISTURBED * self._usual_s:
            self._channel.again(took_s)
            return None
        glance = probed.glance(took_s)
        return glance if glance.says_something else None
