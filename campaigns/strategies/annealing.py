"""Simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983): step by step, rarely to a worse point.

A batch is so many neighbours of where the search stands; they are looked at in order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice

from campaigns.strategies.base import NEIGHBOURS, Point, SearchStrategy, SearchTrial

# A time e^0.5 of the present one is taken once in e times at first; after 60 trials one of e^0.05.
HOT, COOLING = 0.5, 0.1 ** (1 / 60)


class Annealing(SearchStrategy):
    _here: Point | None = None
    _here_us = math.inf

    def _propose(self, n: int) -> Iterator[Point]:
        if self._here is not None:
            near = islice(self.space.neighbours(self._here), NEIGHBOURS)
            yield from self._shuffled(near)
            self._here = None  # everything around is known: go on from a random point

    def _learn(self, point: Point, trial: SearchTrial) -> None:
        if trial.time_us is None:
            return
        worse = 0.0 if self._here is None else math.log(trial.time_us / self._here_us)
        warmth = HOT * COOLING ** len(self.told)
        if worse <= 0 or self.random.random() < math.exp(-worse / warmth):
            self._here, self._here_us = point, trial.time_us
