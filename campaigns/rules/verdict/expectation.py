"""Whether a hypothesis came true: the expected against the measured change (R34)."""

from __future__ import annotations

from enum import StrEnum

from campaigns.rules.noise.gain import Gain, improved, regressed

# A prediction is confirmed from a quarter of it on, or if at most 1 % of the time is missing.
QUARTER, HUNDREDTH = 0.25, 0.01
# The metric as proposers name it; any other metric is not measured here.
TIMES, DOWN = frozenset(("time_us", "time per call")), "down"


class Borne(StrEnum):
    """The result of a prediction; the value is for people."""

    CONFIRMED = "confirmed"
    PARTLY = "partly confirmed"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


def least_wanted(amount: float) -> float:
    """The share of the time that must be saved to confirm `amount`, both as fractions."""
    return max(0.0, min(QUARTER * amount, amount - HUNDREDTH))


def saved_share(gain: float) -> float:
    """A gain in speed as the share of the time that it saves: 1.0 is 0.5."""
    return 1 - 1 / (1 + gain)


def borne_out(
    metric: str, direction: str, amount: float | None, gain: Gain | None, noise: float
) -> Borne:
    """Compare an expected change of `metric` with the gain over the incumbent.

    amount: the expected share of change; None if none was named. Undecided: nothing was compared,
    the metric was not measured, or the interval allows both answers.
    """
    if gain is None or metric not in TIMES or direction != DOWN:
        return Borne.UNDECIDED
    least = least_wanted(amount) if amount is not None else 0.0
    if improved(gain, noise):
        return Borne.CONFIRMED if saved_share(gain.gain) >= least else Borne.PARTLY
    possible = max(least, saved_share(noise))
    if regressed(gain, noise) or saved_share(gain.high) < possible:
        return Borne.REFUTED
    return Borne.UNDECIDED
