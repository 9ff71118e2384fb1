"""When a search ends: little is expected of going on, or the budget is spent.

The rule is that of Jones, Schonlau and Welch (1998, "Efficient global optimization of expensive
black-box functions"): stop once the expected improvement of the next trial is less than a small
part of the best. A strategy's `expected_gain` is that part; it is looked at only after a first
share of trials, since a model of a few points does not know what it does not know.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from campaigns.strategies.base import SearchStrategy


@dataclass(frozen=True, slots=True)
class StopRule:
    """least_gain: of the next trial, as a part of the best time. least_trials: before it counts."""

    most_trials: int
    most_s: float = math.inf
    least_gain: float = 0.001
    least_trials: int = 64

    def reason(self, strategy: SearchStrategy, spent_s: float = 0.0) -> str:
        """Why the search ends now, as a sentence; empty while it goes on."""
        made = len(strategy.told)
        if made >= self.most_trials:
            return f"All {self.most_trials} trials of the budget were made."
        if spent_s >= self.most_s:
            return f"The {self.most_s:.0f} s of the budget are spent."
        if made >= self.least_trials and (gain := strategy.expected_gain()) < self.least_gain:
            return (
                f"After {made} trials the next one is expected to gain {gain:.2%}, "
                f"less than {self.least_gain:.2%}."
            )
        return ""
