"""The certainty of a gain: noise floor, bootstrap interval (R11, R12, R14; law 5).

A comparison that could end at any of several looks has the interval of the look that it ended at
(`campaigns.evaluator.contract.looks`). A percentile bootstrap of few pairs is too narrow at such a
level: the median of six is hardly ever outside of them. So Student's interval of the mean is taken
as well, and the wider bounds of both count.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from campaigns.evaluator.contract import CaseReport, Timing
from campaigns.evaluator.contract.looks import mean_interval
from campaigns.rules.wording import gain_words


def geomean(values: Iterable[float]) -> float:
    """Return the geometric mean of positive numbers. Raises ValueError when there are none."""
    logs = [math.log(value) for value in values]
    if not logs:
        raise ValueError("geomean: needs at least one value")
    return math.exp(math.fsum(logs) / len(logs))


LEAST_FLOOR = 0.01
LEAST_PAIRS = 5
# A gain below this needs a second, independent session.
ONE_SESSION = 0.02
RESAMPLES = 2000
KIND = "95% bootstrap of the geometric-mean ratio"
POOLED_KIND = "95% bootstrap of the mean of {n} sessions, widened to their estimates"
LOOK_KIND = "95% over all looks, by bootstrap and t, of the geometric-mean ratio"
POOLED_LOOK_KIND = "95% over all looks, by bootstrap and t, of the mean of {n} sessions"

_LEVEL = 0.05
# 95 % of a normal distribution lie within this many deviations of its mean.
_DEVIATIONS_95 = 1.96

Pair = tuple[float, float]
Pairs = Sequence[Pair]


@dataclass(frozen=True, slots=True)
class Gain:
    """A change against the incumbent as fractions (0.05: 5 % faster).

    pairs: least of any case. name: which of all gains on record this is; "" of one derived here.
    """

    gain: float
    low: float
    high: float
    pairs: int
    kind: str = KIND
    name: str = field(default="", compare=False)

    @property
    def words(self) -> str:
        """With its interval: "2.75× faster [2.10, 3.99]"."""
        return gain_words(self.gain, self.low, self.high)

    @property
    def brief(self) -> str:
        """For a sentence that names baseline and kind elsewhere."""
        return f"{self.words}, n={self.pairs} pairs"

    def over(self, baseline: str) -> str:
        """For a sentence beside which the kind of its interval is stored."""
        return f"{self.words} against {baseline} (n={self.pairs} pairs)"

    def against(self, baseline: str) -> str:
        """With baseline, interval, kind and count (law 9)."""
        return f"{self.words} against {baseline} ({self.kind}, n={self.pairs} pairs)"

    @property
    def inverse(self) -> Gain:
        """The same comparison with the arms swapped."""
        low, high = 1 / (1 + self.high) - 1, 1 / (1 + self.low) - 1
        return Gain(1 / (1 + self.gain) - 1, low, high, self.pairs, self.kind, f"1 / {self.name}")


def noise_floor(sigma_aa: float) -> float:
    """Return the least gain distinguishable from no change: max(1 %, twice the A/A deviation)."""
    if not 0 <= sigma_aa < math.inf:
        raise ValueError(f"sigma_aa: {sigma_aa!r}; accepted: a fraction, zero or more")
    return max(LEAST_FLOOR, 2 * sigma_aa)


def stray(gain: Gain) -> float:
    """Return one standard deviation of an estimate of "no change"."""
    deviation = (gain.high - gain.low) / (2 * _DEVIATIONS_95)
    return math.hypot(gain.gain, deviation)


def interval(pairs_by_case: Mapping[str, Pairs], seed: int, level: float | None = None) -> Gain:
    """Estimate the gain over (incumbent, candidate) times, any unit, pairs in schedule order.

    The estimate is the geometric mean over cases of the median paired ratio; the interval is the
    percentile bootstrap over the pairs within each case. level: the two-sided error of the look
    that measuring ended at; None where there was one interval only, of 95 %. Raises ValueError
    naming an empty case.
    """
    estimate, logs = _estimated(pairs_by_case, random.Random(seed))
    bounds, fewest = _bounds(logs, [pairs_by_case], level), min(map(len, pairs_by_case.values()))
    return _gain(estimate, bounds, fewest, KIND if level is None else LOOK_KIND)


def pooled(sessions: Sequence[Mapping[str, Pairs]], seed: int, level: float | None = None) -> Gain:
    """Estimate one gain from independent sessions of the same cases, each with the same weight.

    The estimate is the geometric mean of the sessions' own; the interval is the bootstrap of that
    mean, widened to hold every session's estimate, because resampling within sessions cannot show
    the spread between them. level: as in `interval`, the least of the sessions. pairs: of all
    sessions together, least of any case.
    """
    rng = random.Random(seed)
    found = [_estimated(session, rng) for session in sessions]
    estimates = [estimate for estimate, _ in found]
    columns = zip(*(logs for _, logs in found), strict=True)
    low, high = _bounds([math.fsum(row) / len(row) for row in columns], sessions, level)
    kind = POOLED_KIND if level is None else POOLED_LOOK_KIND
    pairs = sum(min(map(len, session.values())) for session in sessions)
    bounds = min(low, *estimates), max(high, *estimates)
    return _gain(geomean(estimates), bounds, pairs, kind.format(n=len(found)))


def improved(gain: Gain, floor: float) -> bool:
    """Whether the interval lies above zero and the gain above the noise floor."""
    return gain.low > 0 and gain.gain > floor


def regressed(gain: Gain, floor: float) -> bool:
    """Whether the interval lies below zero and the loss exceeds the noise floor."""
    return gain.high < 0 and gain.gain < -floor


def _estimated(pairs_by_case: Mapping[str, Pairs], rng: random.Random) -> tuple[float, list[float]]:
    """The geometric-mean ratio of one session, and the logarithms of its resamples."""
    if not pairs_by_case:
        raise ValueError("pairs: needs at least one case")
    ratios = {case: _ratios(case, pairs) for case, pairs in sorted(pairs_by_case.items())}
    estimate = geomean(statistics.median(values) for values in ratios.values())
    columns = []
    for values in map(sorted, ratios.values()):
        # The median of a resample is one of few values (or the mean of two), and the probability of
        # each is known, so it is drawn directly: the same distribution as resampling and sorting.
        medians = _median_chances(len(values))
        logs = [math.log((values[i] + values[j]) / 2) for i, j, _ in medians]
        totals = list(accumulate(chance for _, _, chance in medians))
        columns.append(rng.choices(logs, cum_weights=totals, k=RESAMPLES))
    return estimate, [math.fsum(row) / len(columns) for row in zip(*columns, strict=True)]


def _bounds(
    logs: Sequence[float], sessions: Sequence[Mapping[str, Pairs]], level: float | None
) -> tuple[float, float]:
    """The percentile interval of a bootstrap, as ratios.

    With a level it is widened to Student's interval of the mean over sessions. Cases take turns, so
    their pairs of equal number share what the host did: their mean is one value.
    """
    drawn, tail = sorted(logs), (level or _LEVEL) / 2
    low, high = drawn[int(tail * RESAMPLES)], drawn[math.ceil((1 - tail) * RESAMPLES) - 1]
    if level is None:
        return math.exp(low), math.exp(high)
    means = []
    for session in sessions:
        ratios = [[math.log(one) for one in _ratios(*item)] for item in session.items()]
        columns = [statistics.fmean(column) for column in zip(*ratios, strict=False)]
        means.append(mean_interval(columns, level))
    middle = statistics.fmean(one.mean for one in means)
    reach = math.hypot(*(one.high - one.mean for one in means)) / len(means)
    return math.exp(min(low, middle - reach)), math.exp(max(high, middle + reach))


def _gain(estimate: float, bounds: tuple[float, float], pairs: int, kind: str) -> Gain:
    # Very skewed samples can move a percentile past the estimate; the wider interval is safer.
    low, high = min(bounds[0], estimate) - 1, max(bounds[1], estimate) - 1
    return Gain(estimate - 1, low, high, pairs, kind)


def _ratios(case: str, pairs: Pairs) -> list[float]:
    if not pairs:
        raise ValueError(f"{case}: needs at least one pair of times")
    for incumbent, candidate in pairs:
        if not (0 < incumbent < math.inf and 0 < candidate < math.inf):
            found = f"({incumbent!r}, {candidate!r})"
            raise ValueError(f"{case}: {found}; accepted: pairs of finite times above zero")
    return [incumbent / candidate for incumbent, candidate in pairs]


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


def clock_pairs(case: CaseReport) -> list[Pair]:
    """(incumbent, candidate) times in µs on the judge's clock. ValueError where an arm lacks."""
    old, new = both_arms(case)
    return list(zip(old.samples_us, new.samples_us, strict=True))


def both_arms(case: CaseReport) -> tuple[Timing, Timing]:
    """Incumbent and candidate of a case. Raises ValueError where one was not timed."""
    if case.candidate is None or case.incumbent is None:
        raise ValueError(f"{case.case}: accepted: cases with both arms timed")
    return case.incumbent, case.candidate
