"""Searching a finished landscape again: no device, the recorded times answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from campaigns.landscapes.recorded import RecordedSpace
from campaigns.strategies.base import SearchStrategy

# Takes a space and a seed.
StrategyMaker = Callable[[RecordedSpace, int], SearchStrategy]


@dataclass(frozen=True, slots=True)
class ReplayedSearch:
    """best_us: the shortest time after each evaluation, inf while all have failed.

    optimum_us: the shortest of the landscape. Failures are evaluations too.
    """

    best_us: tuple[float, ...]
    optimum_us: float

    @classmethod
    def of(cls, times_us: Iterable[float], optimum_us: float) -> ReplayedSearch:
        """From the times in the order of the evaluations, inf for a failure."""
        best, course = math.inf, []
        for time_us in times_us:
            best = min(best, time_us)
            course.append(best)
        return cls(tuple(course), optimum_us)

    def evaluations_to(self, margin: float) -> int | None:
        """How many until within this part of the optimum (0.05: 5 %); None where it never was."""
        reached = self.optimum_us * (1 + margin)
        return next((n for n, best in enumerate(self.best_us, 1) if best <= reached), None)


@dataclass(frozen=True, slots=True)
class ReplayLimits:
    """budget: evaluations at most. batch: points asked at a time. margin: close enough to end."""

    budget: int
    batch: int
    margin: float = 0.0


def replay(
    space: RecordedSpace, make: StrategyMaker, seed: int, limits: ReplayLimits
) -> ReplayedSearch:
    """Ask in batches until a limit is met or the space is spent."""
    strategy = make(space, seed)
    times_us: list[float] = []
    enough_us = space.best_us * (1 + limits.margin)
    while len(times_us) < limits.budget and not _reached(times_us, enough_us):
        points = strategy.ask(min(limits.batch, limits.budget - len(times_us)))
        if not points:
            break
        for point in points:
            trial = space.trial(point)
            strategy.tell(point, trial)
            times_us.append(math.inf if trial.time_us is None else trial.time_us)
    return ReplayedSearch.of(times_us, space.best_us)


def _reached(times_us: Iterable[float], enough_us: float) -> bool:
    return any(time_us <= enough_us for time_us in times_us if time_us < math.inf)
