"""How sure a mean ratio of paired times is, and whether more of them would decide more.

A percentile bootstrap of few pairs is too narrow at the small error of one of several looks: the
median of six is hardly ever outside of them. So Student's interval of the mean is taken as well,
and the wider bounds of both count.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate

from campaigns.evaluator.contract.looks import ERROR, WORTH, Pair, gains_of, mean_interval

Pairs = Sequence[Pair]
RESAMPLES = 2000
# The interval that judges is resampled anew, so its bounds may be a little further.
SURE = 0.75
# A clear gain is measured on while its interval is wider than this share of the ratio of times, and
# than this share of the least gain it leaves: of a kernel that is three times faster, "2.9 to 3.6"
# says enough. In logarithms.
WIDE, WIDE_OF_GAIN = 0.1, 0.25


# Whatever ends a comparison, the interval of a look is as wide as all looks together need; so this
# rule can cost power, and no certainty.
def may_end(pairs: Mapping[str, Sequence[Pair]], level: float, floor: float) -> bool:
    """Say whether measuring more would hardly change what is concluded.

    pairs: by case (incumbent, candidate) times, equally many of each. level: the look's. floor: the
    least gain that counts. A gain is clear when its interval lies above the floor and is narrow.
    There is none when the interval excludes every gain worth having, and says whether it is a loss.
    A case that
    seems to lose although all together gain, or to gain although they do not, is measured on: it
    may be protected, or be worth a kernel of its own.
    """
    if (gains := gains_of(pairs)) is None:
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
        return min(alone) > -least and high - low <= max(WIDE, WIDE_OF_GAIN * low)
    worth = WORTH * least
    is_known = -worth < low <= 0 and high < worth
    return max(alone) < worth and (is_known or high < (least if low > 0 else 0))


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
    """Return the ratio of each pair; above 1 is a gain. Raises ValueError as `estimated` does."""
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
