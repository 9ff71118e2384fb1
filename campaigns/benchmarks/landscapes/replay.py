"""Searching a finished landscape again: no device, the recorded times answer."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from campaigns.benchmarks.landscapes.landscape import (
    Landscape,
    LandscapeError,
    RecordedKnob,
    read_landscape,
    read_text,
)
from campaigns.benchmarks.landscapes.tuner_files import read_cache, read_t4
from campaigns.evaluator.contract import Param
from campaigns.strategies.base import Point, SearchStrategy, SearchTrial

ACCEPTED = ".csv, or .json of Kernel Tuner (a cache or T4 results), each also with .gz"


def read_any(path: Path) -> Landscape:
    """Raises LandscapeError."""
    match path.name.removesuffix(".gz").rpartition(".")[2]:
        case "csv":
            return read_landscape(path)
        case "json":
            is_t4 = '"results"' in read_text(path) and '"tune_params"' not in read_text(path)
            return read_t4(path) if is_t4 else read_cache(path)
    raise LandscapeError(f"{path}: {ACCEPTED} are accepted")


class RecordedSpace:
    """A search space (`campaigns.strategies.base`) in which nothing is measured."""

    def __init__(self, landscape: Landscape) -> None:
        self.knobs: tuple[RecordedKnob, ...] = landscape.header.knobs
        self.best_us = landscape.best_us
        self._rows = {self._key(point): (point, trial) for point, trial in landscape.trials()}

    @property
    def size(self) -> int:
        return len(self._rows)

    def is_legal(self, point: Point) -> str:
        return "" if self._key(point) in self._rows else "not recorded"

    def sample(self, rng: random.Random) -> Point | None:
        return rng.choice(self._points) if self._points else None

    def neighbours(self, point: Point) -> Iterator[Point]:
        key = self._key(point)
        for at, knob in enumerate(self.knobs):
            for value in knob.values:
                near = self._rows.get((*key[:at], value, *key[at + 1 :]))
                if near is not None and value != key[at]:
                    yield near[0]

    def points_at_most(self, n: int) -> Iterator[Point]:
        return islice(self._points, n)

    def trial(self, point: Point) -> SearchTrial:
        """How the point went when it was measured. Raises KeyError."""
        return self._rows[self._key(point)][1]

    @cached_property
    def _points(self) -> list[Point]:
        return [point for point, _ in self._rows.values()]

    def _key(self, point: Point) -> tuple[Param, ...]:
        return tuple(point.get(knob.name, "") for knob in self.knobs)


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
    while len(times_us) < limits.budget:
        # Where nothing was measured, nothing is enough.
        if any(time_us <= enough_us and time_us < math.inf for time_us in times_us):
            break
        points = strategy.ask(min(limits.batch, limits.budget - len(times_us)))
        if not points:
            break
        for point in points:
            trial = space.trial(point)
            strategy.tell(point, trial)
            times_us.append(math.inf if trial.time_us is None else trial.time_us)
    return ReplayedSearch.of(times_us, space.best_us)
