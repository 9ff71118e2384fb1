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
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from campaigns.evaluator.contract.job import Look, Protocol

Pair = tuple[float, float]
# The two-sided error of an interval that stands alone, or of all looks together.
ERROR = 0.05
# Bisecting an interval so often leaves nothing of it in a float.
HALVINGS = 60
# A change worth having, in noise floors. However precise a comparison is, a gain of the floor
# itself is above it in half of all cases. One of twice the floor is found wherever the interval
# reaches no further than the floor to both sides.
WORTH = 2.0
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


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """A mean with its interval."""

    mean: float
    low: float
    high: float


def mean_interval(values: Sequence[float], level: float) -> MeanInterval:
    """Student's interval of a mean, with two-sided error `level`. ValueError under two values."""
    mean, spread = statistics.fmean(values), statistics.stdev(values)
    reach = student_quantile(len(values) - 1, level) * spread / math.sqrt(len(values))
    return MeanInterval(mean, mean - reach, mean + reach)


@cache
def student_quantile(degrees: int, level: float) -> float:
    """What |t| of so many degrees of freedom exceeds with probability `level`."""
    high = 1.0
    while _within(high, degrees) < 1 - level:
        high *= 2
    low = 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, degrees) < 1 - level else (low, middle)
    return high


def _within(t: float, degrees: int) -> float:
    """The probability that |t| is at most this (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(degrees))
    odd = degrees % 2
    term, total = math.cos(angle) if odd else 1.0, 0.0
    for n in range(2 + odd, degrees + 1, 2):
        total += term
        term *= (n - 1) / n * math.cos(angle) ** 2
    inside = math.sin(angle) * total
    return 2 / math.pi * (angle + inside) if odd else inside


def is_absent(pairs: Mapping[str, Sequence[Pair]], level: float, floor: float) -> bool:
    """Say whether there is no gain that counts, in any case or in all together."""
    if (gains := gains_of(pairs)) is None:
        return False
    (together, alone), least = gains, math.log1p(floor)
    found = mean_interval(together, level)
    return max(alone) < least and found.low <= 0 and found.high < WORTH * least


def gains_of(pairs: Mapping[str, Sequence[Pair]]) -> tuple[list[float], list[float]] | None:
    """Logarithms of gains: by pair the mean over the cases, and by case. None without times."""
    if any(time <= 0 for taken in pairs.values() for pair in taken for time in pair):
        return None
    logs = [[math.log(old / new) for old, new in taken] for taken in pairs.values()]
    together = [statistics.fmean(column) for column in zip(*logs, strict=True)]
    return together, [statistics.fmean(values) for values in logs]
