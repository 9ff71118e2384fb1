"""PURE: what a few gains show together: the median and the interval that holds it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from knowledge.experience.wording import gain_words

Z_95 = 1.96


@dataclass(frozen=True, slots=True)
class GainSpread:
    """n gains, 0.05 is 5 %. median: None without any; low, high: None of one alone."""

    n: int = 0
    median: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def words(self) -> str:
        return gain_words(self.median, self.low, self.high)


NONE_MEASURED = GainSpread()


def spread_of(gains: Iterable[float]) -> GainSpread:
    """The median gain with the order statistics that hold it 95 times of 100; see `ranks`."""
    rising = sorted(gains)
    n = len(rising)
    if n < 2:
        return GainSpread(n, *rising)
    middle, low, high = ranks(n)
    return GainSpread(n, rising[middle], rising[low], rising[high])


def ranks(n: int) -> tuple[int, int, int]:
    """The ranks, from 0, of the lower median of n values and of its 95 % interval.

    By the binomial's normal approximation; below six values it is the whole range, which holds the
    median less often than that.
    """
    middle = (n - 1) // 2
    if n < 6:
        return middle, 0, n - 1
    reach = Z_95 * math.sqrt(n) / 2
    return middle, max(0, math.floor(n / 2 - reach)), min(n - 1, math.ceil(n / 2 + reach) - 1)
