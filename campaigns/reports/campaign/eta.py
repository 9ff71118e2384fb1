"""How long a campaign may still take: a range with its basis, or "too early to say"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

LEAST_ROUNDS = 3
RECENT = 5
_MINUTE, _HOUR = 60.0, 3600.0


@dataclass(frozen=True, slots=True)
class Eta:
    """The time left in seconds, from the 20th and the 80th percentile of recent rounds.

    is_capped: a budget of time ends it before that many rounds would.
    """

    low_s: float
    high_s: float
    rounds: int
    is_capped: bool = False

    @property
    def span(self) -> str:
        """For a place that says already that it is the time left."""
        low, high = spoken(self.low_s), spoken(self.high_s)
        return f"about {low}" if low == high else f"about {low} to {high}"

    @property
    def words(self) -> str:
        return f"{self.span} left"


def estimate(
    durations_s: Sequence[float], rounds_left: int, most_s: float = math.inf
) -> Eta | None:
    """Estimate from the durations of the closed rounds, oldest first; None under 3 rounds.

    most_s: what is left of a budget of time, which no estimate goes beyond.
    """
    if len(durations_s) < LEAST_ROUNDS:
        return None
    recent = sorted(durations_s[-RECENT:])
    last = len(recent) - 1
    low, high = recent[round(0.2 * last)], recent[round(0.8 * last)]
    low_s, high_s = low * rounds_left, high * rounds_left
    capped = high_s > most_s
    return Eta(min(low_s, most_s), min(high_s, most_s), len(recent), capped)


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
