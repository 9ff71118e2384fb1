"""Looks at a comparison while it is measured, so that it can end as soon as it has decided.

An interval that is looked at several times at 95 % misses the truth more often than once in 20. So
the error of 5 % is spent over the looks by the function of Lan and DeMets that is like the bounds
of Pocock: after a share t of the pairs a(t) = 0.05 ln(1 + (e - 1) t) of it may be spent. Each look
has the two-sided error of its own interval; the chance that the interval of any look misses the
truth is 5 % in all, whatever made measuring end (repeated intervals). A small error makes
Student's interval of few pairs wide, so a function that leaves early looks little takes more pairs.

Lan and DeMets, Biometrika 70 (1983) 659; Pocock, Biometrika 64 (1977) 191; Jennison and Turnbull,
Group Sequential Methods (2000), 3.8 for the levels with t, 9 for the intervals.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

from campaigns.evaluator.contract.intervals import ERROR, Pair, bounds_of, estimated, mean_interval
from campaigns.evaluator.contract.job import Look, Protocol

# A change worth having, in noise floors. However precise a comparison is, a gain of the floor
# itself is above it in half of all cases. One of twice the floor is found wherever the interval
# reaches no further than the floor to both sides.
WORTH = 2.0
# The interval that judges is resampled anew, so its bounds may be a little further.
SURE = 0.75
# After 6 to 20 pairs: R11 asks for five at the least. The last two are for what is undecided.
LOOKS = (Look(3, 0.0208), Look(4, 0.0127), Look(5, 0.0123), Look(7, 0.0161), Look(10, 0.0196))


def looks_at(protocol: Protocol, contenders: int) -> tuple[Look, ...]:
    """When so many candidates are looked at in one comparison, and by which error each.

    The best of several is chosen by the very times that show its gain, and the best of four that
    gain nothing seems to gain more often than one. So they share the error (Bonferroni): whatever
    their times have in common, the chance that the interval of any misses the truth is 5 % in all.
    Rules without looks have one interval each, at the end.
    """
    if contenders == 1:
        return protocol.looks
    planned = protocol.looks or (Look(protocol.blocks, ERROR),)
    return tuple(replace(look, level=look.level / contenders) for look in planned)


# Whatever ends a comparison, the interval of a look is as wide as all looks together need; so this
# rule can cost power, and no certainty.
def may_end(pairs: Mapping[str, Sequence[Pair]], level: float, floor: float) -> bool:
    """Whether measuring more would hardly change what is concluded.

    pairs: by case (incumbent, candidate) times, equally many of each. level: the look's. floor: the
    least gain that counts. A gain is clear when its interval lies above the floor. There is none
    when the interval excludes every gain worth having, and says whether it is a loss. A case that
    seems to lose although all together gain, or to gain although they do not, is measured on: it
    may be protected, or be worth a kernel of its own.
    """
    if (gains := _gains(pairs)) is None:
        return False
    (together, alone), least = gains, math.log1p(floor)
    found = mean_interval(together, level)
    # The interval that judges is the wider one, and takes longer to be found.
    if not _decides(found.low, found.high, alone, least):
        return False
    low, high = bounds_of(estimated(pairs, random.Random(0))[1], [pairs], SURE * level)
    return _decides(math.log(low), math.log(high), alone, least)


def _decides(low: float, high: float, alone: Sequence[float], least: float) -> bool:
    """All in logarithms. alone: the gain of each case. least: that counts."""
    if low > least:
        return min(alone) > -least
    worth = WORTH * least
    is_known = -worth < low <= 0 and high < worth
    return max(alone) < worth and (is_known or high < (least if low > 0 else 0))


def is_absent(pairs: Mapping[str, Sequence[Pair]], level: float, floor: float) -> bool:
    """Whether there is no gain that counts, in any case or in all together; see `may_end`."""
    if (gains := _gains(pairs)) is None:
        return False
    (together, alone), least = gains, math.log1p(floor)
    found = mean_interval(together, level)
    return max(alone) < least and found.low <= 0 and found.high < WORTH * least


def _gains(pairs: Mapping[str, Sequence[Pair]]) -> tuple[list[float], list[float]] | None:
    """Logarithms of gains: by pair the mean over the cases, and by case. None without times."""
    if any(time <= 0 for taken in pairs.values() for pair in taken for time in pair):
        return None
    logs = [[math.log(old / new) for old, new in taken] for taken in pairs.values()]
    together = [statistics.fmean(column) for column in zip(*logs, strict=True)]
    return together, [statistics.fmean(values) for values in logs]
