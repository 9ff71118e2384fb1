"""The certainty of a gain: noise floor, bootstrap interval (R11, R12, R14; law 5).

A comparison that could end at any of several looks has the interval of the look that it ended at
(`campaigns.evaluator.contract.looks`).
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from campaigns.evaluator.contract import CaseReport, Timing
from campaigns.evaluator.contract.intervals import Pairs, bounds_of, estimated
from campaigns.evaluator.contract.looks import WORTH, Pair
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
KIND = "95% bootstrap of the geometric-mean ratio"
POOLED_KIND = "95% bootstrap of the mean of {n} sessions, widened to their estimates"
LOOK_KIND = "95% over all looks, by bootstrap and t, of the geometric-mean ratio"
POOLED_LOOK_KIND = "95% over all looks, by bootstrap and t, of the mean of {n} sessions"

# 95 % of a normal distribution lie within this many deviations of its mean.
_DEVIATIONS_95 = 1.96


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
    estimate, logs = estimated(pairs_by_case, random.Random(seed))
    bounds, fewest = bounds_of(logs, [pairs_by_case], level), min(map(len, pairs_by_case.values()))
    return _gain(math.exp(estimate), bounds, fewest, KIND if level is None else LOOK_KIND)


def pooled(sessions: Sequence[Mapping[str, Pairs]], seed: int, level: float | None = None) -> Gain:
    """Estimate one gain from independent sessions of the same cases, each with the same weight.

    The estimate is the geometric mean of the sessions' own; the interval is the bootstrap of that
    mean, widened to hold every session's estimate, because resampling within sessions cannot show
    the spread between them. level: as in `interval`, the least of the sessions. pairs: of all
    sessions together, least of any case.
    """
    rng = random.Random(seed)
    found = [estimated(session, rng) for session in sessions]
    estimates = [math.exp(estimate) for estimate, _ in found]
    columns = zip(*(logs for _, logs in found), strict=True)
    low, high = bounds_of([math.fsum(row) / len(row) for row in columns], sessions, level)
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


def undecided(gain: Gain, floor: float) -> bool:
    """Whether the interval holds both no change and a change worth having (`WORTH` floors)."""
    if not gain.low <= 0 <= gain.high:
        return False
    return max(math.log1p(gain.high), -math.log1p(gain.low)) >= WORTH * math.log1p(floor)


def _gain(estimate: float, bounds: tuple[float, float], pairs: int, kind: str) -> Gain:
    # Very skewed samples can move a percentile past the estimate; the wider interval is safer.
    low, high = min(bounds[0], estimate) - 1, max(bounds[1], estimate) - 1
    return Gain(estimate - 1, low, high, pairs, kind)


def clock_pairs(case: CaseReport) -> list[Pair]:
    """(incumbent, candidate) times in µs on the judge's clock. ValueError where an arm lacks."""
    old, new = both_arms(case)
    return list(zip(old.samples_us, new.samples_us, strict=True))


def both_arms(case: CaseReport) -> tuple[Timing, Timing]:
    """Incumbent and candidate of a case. Raises ValueError where one was not timed."""
    if case.candidate is None or case.incumbent is None:
        raise ValueError(f"{case.case}: accepted: cases with both arms timed")
    return case.incumbent, case.candidate
