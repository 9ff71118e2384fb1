"""How long a campaign may still take: a range with its basis, or "too early to say"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LEAST_ROUNDS = 3
RECENT = 5
_MINUTE, _HOUR = 60.0, 3600.0


@dataclass(frozen=True, slots=True)
class Eta:
    """The time left in seconds, from the 20th and the 80th percentile of recent rounds."""

    low_s: float
    high_s: float
    rounds: int

    @property
    def words(self) -> str:
        low, high = spoken(self.low_s), spoken(self.high_s)
        return f"about {low} left" if low == high else f"about {low} to {high} left"


def estimate(durations_s: Sequence[float], rounds_left: int) -> Eta | None:
    """Estimate from the durations of the closed rounds, oldest first; None under 3 rounds."""
    if len(durations_s) < LEAST_ROUNDS:
        return None
    recent = sorted(durations_s[-RECENT:])
    last = len(recent) - 1
    low, high = recent[round(0.2 * last)], recent[round(0.8 * last)]
    return Eta(low * rounds_left, high * rounds_left, len(recent))


def spoken(seconds: float) -> str:
    """Write a duration as people say it: "40 s", "3 min", "1 h 10"."""
    if seconds < 10:
        return f"{seconds:.1f} s" if seconds < 1 else f"{seconds:.0f} s"
    if seconds < 100:
        return f"{round(seconds, -1 if seconds > 20 else 0):.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    hours, rest = divmod(round(seconds / _MINUTE), 60)
    return f"{hours} h {rest:02d}"
