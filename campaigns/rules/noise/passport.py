"""A worker's noise passport: the noise of a kernel compared with itself on one device (R11, R12).

Every session of an A/A evaluation runs one source in both arms, so any gain it shows is noise.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta

from campaigns.evaluator.contract import Report, Timing
from campaigns.rules.noise.drift import (
    HELD_DOWN,
    LEAST_SHIFT,
    Allowance,
    Change,
    allowance,
    change_within,
    step_in,
)
from campaigns.rules.noise.gain import (
    LEAST_FLOOR,
    both_arms,
    clock_pairs,
    interval,
    noise_floor,
    stray,
)
from campaigns.rules.wording import duration, gain_words, share
from knowledge.experience.terms import SUCCESS

# Half of the least floor. A smaller bias lies below the floor, although the narrow interval of many
# pooled pairs may exclude zero.
LEAST_BIAS = LEAST_FLOOR / 2
# One honest length in 20 has a 95 % interval clear of zero; half as wide again, one in 250.
WIDER = 1.5
# For intervals that hold the truth 19 times in 20, so few holding it has at most this probability.
MISSED_CHANCE = 0.01
INTERVAL = 0.95
# A kernel may lie between two lengths or somewhat beyond. Shorter kernels are noisier, so that
# margin is small; longer ones are not: on an H200 kernels of 0.04 to 3.3 ms scatter alike
# (docs/benchmarks/precision-h200.md).
FITS_SHORTER, FITS_LONGER = 4.0, 40.0
# Noise depends on temperature, neighbours and drivers; after a week these may have changed.
USUAL_AGE = timedelta(days=7)
# Clocks of two hosts rarely differ by more; a date further ahead would never expire.
CLOCK_SKEW = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Length:
    """One kernel against itself. Times in µs; everything else in fractions.

    spread: half the distance between the 10th and the 90th percentile of single samples, each as a
    share of its own session's median. gain, low, high: the estimate of all pairs together, whose
    truth is no change. sigma: the deviation of one session's estimate. covered: sessions whose
    interval holds zero. moved: sessions in which the times moved to another level.
    """

    kernel: str
    time_us: float
    spread: float
    gain: float
    low: float
    high: float
    sigma: float
    covered: int
    sessions: int
    pairs: int
    moved: int = 0

    @property
    def floor(self) -> float:
        """The least gain that is distinguishable from no change at this length."""
        return noise_floor(self.sigma)

    @property
    def is_biased(self) -> bool:
        """Whether one arm beats the same arm, well beyond the bias's own interval."""
        end = self.low if self.gain > 0 else self.high
        return abs(self.gain) > max(LEAST_BIAS, WIDER * abs(self.gain - end))


@dataclass(frozen=True, slots=True)
class Range:
    """The least and the greatest of many readings."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions during all sessions; None for what the host hides. Units as in Moment.

    changed: the most that anything changed within one session.
    """

    clock_mhz: Range | None = None
    temperature_c: Range | None = None
    power_w: Range | None = None
    others: Range | None = None
    load: Range | None = None
    pressure: Range | None = None
    stolen: Range | None = None
    throttled: tuple[str, ...] = ()
    changed: Change = field(default_factory=Change)


@dataclass(frozen=True, slots=True)
class Fit:
    """The lengths of a passport around a kernel, and the noise derived from them."""

    lengths: tuple[Length, ...]

    @property
    def sigma(self) -> float:
        return max(length.sigma for length in self.lengths)

    @property
    def spread(self) -> float:
        return max(length.spread for length in self.lengths)


def lengths_of(sessions: Sequence[Report], seed: int) -> tuple[Length, ...]:
    """Evaluate A/A sessions of the same cases, shortest first.

    Raises ValueError without sessions and for a case that was not timed in both arms.
    """
    found = []
    for name in [case.case for case in sessions[0].cases]:
        cases = [next(c for c in report.cases if c.case == name) for report in sessions]
        pairs = [clock_pairs(case) for case in cases]
        gains = [interval({name: session}, seed) for session in pairs]
        pooled = interval({name: [pair for session in pairs for pair in session]}, seed)
        arms = [arm for case in cases for arm in both_arms(case)]
        shares = sorted(us / statistics.median(a.samples_us) for a in arms for us in a.samples_us)
        tenth = len(shares) // 10
        length = Length(
            kernel=name,
            time_us=statistics.median(us for arm in arms for us in arm.samples_us),
            spread=(shares[-1 - tenth] - shares[tenth]) / 2,
            gain=pooled.gain,
            low=pooled.low,
            high=pooled.high,
            sigma=math.sqrt(statistics.fmean(stray(gain) ** 2 for gain in gains)),
            covered=sum(gain.low <= 0 <= gain.high for gain in gains),
            sessions=len(gains),
            pairs=pooled.pairs,
            moved=sum(bool(step_in(arm.samples_us, LEAST_SHIFT)) for arm in arms[::2]),
        )
        found.append(length)
    return tuple(sorted(found, key=lambda length: length.time_us))


def conditions_of(sessions: Sequence[Report]) -> Conditions:
    """The conditions during these sessions."""
    moments = [moment for report in sessions for moment in report.surroundings]
    ranges: dict[str, Range | None] = {}
    for name in ("clock_mhz", "temperature_c", "power_w", "others", "load", "pressure", "stolen"):
        known = [value for m in moments if (value := getattr(m, name)) is not None]
        ranges[name] = Range(min(known), max(known)) if known else None
    by_case = [
        change_within([m for m in report.surroundings if m.case == case.case])
        for report in sessions
        for case in report.cases
    ]
    changed = {
        f.name: max((getattr(c, f.name) for c in by_case), default=0.0) for f in fields(Change)
    }
    throttled = tuple(sorted({reason for moment in moments for reason in moment.throttled}))
    return Conditions(**ranges, throttled=throttled, changed=Change(**changed))


def failures(lengths: Sequence[Length], conditions: Conditions) -> tuple[str, ...]:
    """Why this passport should not be used, one sentence each; empty if it is good."""
    found = [
        f"{length.kernel} compared with itself shows "
        f"{gain_words(length.gain, length.low, length.high)} (n={length.pairs} pairs): one arm is "
        "favoured"
        for length in lengths
        if length.is_biased
    ]
    held = sorted(HELD_DOWN & set(conditions.throttled))
    if held:
        found.append(f"the clock was throttled: {', '.join(held)}")
    covered, sessions = (sum(getattr(n, name) for n in lengths) for name in ("covered", "sessions"))
    # So few intervals with zero have this probability, if each holds it with its nominal one.
    chance = math.fsum(
        math.comb(sessions, n) * INTERVAL**n * (1 - INTERVAL) ** (sessions - n)
        for n in range(covered + 1)
    )
    if chance < MISSED_CHANCE:
        found.append(
            f"only {covered} of {sessions} intervals contain zero, but {share(INTERVAL)} should: "
            "intervals are too narrow here"
        )
    if 2 * (moved := sum(length.moved for length in lengths)) > sessions:
        found.append(f"in {moved} of {sessions} sessions the times moved to another level")
    return tuple(found)


def noisy(lengths: Iterable[Length]) -> tuple[str, ...]:
    """A phrase per length whose floor hides even a change that counts as a success; else empty.

    Such a floor is valid and counts, but it is not a good one.
    """
    return tuple(
        f"for kernels of about {duration(length.time_us)} the noise floor is {share(length.floor)}"
        for length in lengths
        if length.floor > SUCCESS
    )


def age_words(taken_at: datetime, now: datetime, most: timedelta = USUAL_AGE) -> tuple[str, ...]:
    """Say that a passport is too old or dated in the future; empty if it is neither."""
    age = now - taken_at
    if age < -CLOCK_SKEW:
        return (f"it is dated {taken_at:%Y-%m-%d %H:%M}, which is in the future",)
    return (f"it is {age.days} days old; at most {most.days} are allowed",) if age > most else ()


def differences(then: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """The changes of the host since then, one phrase each."""
    names = sorted(then.keys() | now.keys())
    return tuple(
        f"{name} was {then.get(name) or 'unknown'} and is {now.get(name) or 'unknown'}"
        for name in names
        if then.get(name) != now.get(name)
    )


def fit(lengths: Iterable[Length], time_us: float) -> Fit | None:
    """The lengths around a kernel's time in µs; None if it is far from all or not a valid time.

    Between two lengths both count, because the noise between them is unknown.
    """
    if time_us <= 0:
        return None
    ordered = sorted(lengths, key=lambda length: length.time_us)
    below = [length for length in ordered if length.time_us <= time_us]
    above = [length for length in ordered if length.time_us > time_us]
    if below and above:
        return Fit((below[-1], above[0]))
    if below and time_us <= FITS_LONGER * below[-1].time_us:
        return Fit((below[-1],))
    if above and time_us >= above[0].time_us / FITS_SHORTER:
        return Fit((above[0],))
    return None


def typical_us(timing: Timing) -> float:
    """The median of an arm's samples on the judge's clock, in µs; 0 without samples."""
    return statistics.median(timing.samples_us) if timing.samples_us else 0.0


def allowed_by(found: Fit, conditions: Conditions) -> Allowance:
    """The allowed change of a measurement, given the changes in this passport."""
    return allowance(found.spread, conditions.changed, frozenset(conditions.throttled))


def told(found: Fit) -> str:
    """Name the lengths of a fit: "34.3 µs and 1.20 ms"."""
    return " and ".join(duration(length.time_us) for length in found.lengths)


def told_floor(length: Length) -> str:
    """Write a length with its noise floor: "34.3 µs: 1 %"."""
    return f"{duration(length.time_us)}: {share(length.floor)}"
