"""A landscape as a space to search: its points are the legal ones, its rows the answers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cached_property
from itertools import islice

from campaigns.evaluator.contract import Param
from campaigns.landscapes.landscape import Landscape, RecordedKnob
from campaigns.strategies.base import SearchTrial
from campaigns.strategies.space import Point


class RecordedSpace:
    """A search space (`campaigns.strategies.space`) in which nothing is measured."""

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
