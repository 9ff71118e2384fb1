"""How sure a mean ratio of paired times is: Student's interval, and a bootstrap of medians.

A percentile bootstrap of few pairs is too narrow at the small error of one of several looks: the
median of six is hardly ever outside of them. So Student's interval of the mean is taken as well,
and the wider bounds of both count.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

Pair = tuple[float, float]
Pairs = Sequence[Pair]
# The two-sided error of an interval that stands alone, or of all looks together.
ERROR = 0.05
RESAMPLES = 2000
# Bisecting an interval so often leaves nothing of it in a float.
HALVINGS = 60


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


def estimated(pairs_by_case: Mapping[str, Pairs], rng: random.Random) -> tuple[float, list[float]]:
    """The logarithms of the geometric-mean ratio of one session and of its resamples.

    Raises ValueError naming an empty case, or times that are none.
    """
    if not pairs_by_case:
        raise ValueError("pairs: needs at least one case")
    ratios = {case: ratios_of(case, pairs) for case, pairs in sorted(pairs_by_case.items())}
    middles = [math.log(statistics.median(values)) for values in ratios.values()]
    columns = []
    for values in map(sorted, ratios.values()):
        # The median of a resample is one of few values (or the mean of two), and the probability of
        # each is known, so it is drawn directly: the same distribution as resampling and sorting.
        medians = _median_chances(len(values))
        logs = [math.log((values[i] + values[j]) / 2) for i, j, _ in medians]
        totals = list(accumulate(chance for _, _, chance in medians))
        columns.append(rng.choices(logs, cum_weights=totals, k=RESAMPLES))
    return statistics.fmean(middles), [
        math.fsum(row) / len(columns) for row in zip(*columns, strict=True)
    ]


def bounds_of(
    logs: Sequence[float], sessions: Sequence[Mapping[str, Pairs]], level: float | None
) -> tuple[float, float]:
    """The percentile interval of a bootstrap, as ratios.

    With a level it is widened to Student's interval of the mean over sessions. Cases take turns, so
    their pairs of equal number share what the host did: their mean is one value.
    """
    drawn, tail = sorted(logs), (level or ERROR) / 2
    low, high = drawn[int(tail * RESAMPLES)], drawn[math.ceil((1 - tail) * RESAMPLES) - 1]
    if level is None:
        return math.exp(low), math.exp(high)
    means = []
    for session in sessions:
        ratios = [[math.log(one) for one in ratios_of(*item)] for item in session.items()]
        columns = [statistics.fmean(column) for column in zip(*ratios, strict=False)]
        means.append(mean_interval(columns, level))
    middle = statistics.fmean(one.mean for one in means)
    reach = math.hypot(*(one.high - one.mean for one in means)) / len(means)
    return math.exp(min(low, middle - reach)), math.exp(max(high, middle + reach))


def ratios_of(case: str, pairs: Pairs) -> list[float]:
    """Of each pair; above 1 is a gain. Raises ValueError as `estimated` does."""
    if not pairs:
        raise ValueError(f"{case}: needs at least one pair of times")
    for incumbent, candidate in pairs:
        if not (0 < incumbent < math.inf and 0 < candidate < math.inf):
            found = f"({incumbent!r}, {candidate!r})"
            raise ValueError(f"{case}: {found}; accepted: pairs of finite times above zero")
    return [incumbent / candidate for incumbent, candidate in pairs]


@cache
def _median_chances(n: int) -> list[tuple[int, int, float]]:
    """List (i, j, probability): the resample's median is the mean of sorted samples i and j."""
    middle = n // 2 + 1 if n % 2 else n // 2
    at_most = [_at_least(middle, n, (i + 1) / n) for i in range(n)]
    single = [high - low for low, high in zip([0.0, *at_most], at_most, strict=False)]
    if n % 2:
        return [(i, i, chance) for i, chance in enumerate(single)]
    half, chances = n // 2, []
    ways = math.comb(n, half)
    for i in range(n):
        # Exactly half of the draws end at sample i, and the other half starts at sample j.
        lower = ((i + 1) / n) ** half - (i / n) ** half
        apart = [
            (i, j, ways * lower * (((n - j) / n) ** half - ((n - j - 1) / n) ** half))
            for j in range(i + 1, n)
        ]
        rest = single[i] - math.fsum(chance for _, _, chance in apart)
        chances += [(i, i, max(0.0, rest)), *apart]
    return chances


def _at_least(k: int, n: int, p: float) -> float:
    return math.fsum(math.comb(n, m) * p**m * (1 - p) ** (n - m) for m in range(k, n + 1))
