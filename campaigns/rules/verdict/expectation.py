"""Whether a hypothesis came true: what it expected against what was measured (R34)."""

from __future__ import annotations

from enum import StrEnum

from campaigns.rules.noise.gain import Gain, improved, regressed

# A prediction came true when a quarter of it did, or all of it but for a hundredth.
QUARTER, HUNDREDTH = 0.25, 0.01
# As proposers name it; whatever else they expect has to be measured by itself.
TIMES, DOWN = frozenset(("time_us", "time per call")), "down"


class Borne(StrEnum):
    """What became of an expectation; the value is what people read."""

    CONFIRMED = "confirmed"
    PARTLY = "partly confirmed"
    REFUTED = "refuted"
    UNTOLD = "not told"


def least_wanted(amount: float) -> float:
    """The share of a time that has to be saved where `amount` was expected, both as fractions."""
    return max(0.0, min(QUARTER * amount, amount - HUNDREDTH))


def saved_share(gain: float) -> float:
    """A gain in speed as the share of the time that it saves: 1.0 is 0.5."""
    return 1 - 1 / (1 + gain)


def borne_out(
    metric: str, direction: str, amount: float | None, gain: Gain | None, noise: float
) -> Borne:
    """Hold an expected change of `metric` against the gain over the incumbent.

    amount: the share by which it should move; None where none was named. Not told: nothing was
    compared, the metric is one that was not measured, or the interval allows for both answers.
    """
    if gain is None or metric not in TIMES or direction != DOWN:
        return Borne.UNTOLD
    least = least_wanted(amount) if amount is not None else 0.0
    if improved(gain, noise):
        return Borne.CONFIRMED if saved_share(gain.gain) >= least else Borne.PARTLY
    possible = max(least, saved_share(noise))
    if regressed(gain, noise) or saved_share(gain.high) < possible:
        return Borne.REFUTED
    return Borne.UNTOLD
