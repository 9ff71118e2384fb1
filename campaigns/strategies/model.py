"""What searches with a model of the space have in common: some first points, then scores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator

import numpy as np

from campaigns.strategies.base import SearchStrategy
from campaigns.strategies.encoding import CandidatePool, Matrix, PointEncoder, Vector
from campaigns.strategies.space import Point, SearchSpace

# Trials before the model is asked; the best of which the neighbourhood is looked at.
FIRST, BEST = 10, 5


class ModelSearch(SearchStrategy):
    def __init__(self, space: SearchSpace, seed: int = 0, seeds: Iterable[Point] = ()) -> None:
        super().__init__(space, seed, seeds)
        self._encode = PointEncoder(space.knobs)
        self._pool = CandidatePool(space, self._encode, self.random)

    def _propose(self, n: int) -> Iterator[Point]:
        """Highest score first; a score sinks next to what is chosen or not told yet."""
        if sum(1 for _ in self.times_us) < 2 or len(self.told) < FIRST:
            return
        points, rows = self._pool.draw(self.best(BEST), self.is_new)
        if not points:
            return
        scores = self._scores(rows)
        for taken in self._encode(list(self.pending.values())):
            scores = scores * (1 - self._likeness(rows, taken))
        free = np.ones(len(points), dtype=bool)
        for _ in range(min(n, len(points))):
            at = int(np.argmax(np.where(free, scores, -1.0)))
            free[at] = False
            yield points[at]
            scores = scores * (1 - self._likeness(rows, rows[at]))

    def log_times(self) -> Vector:
        """Of all that was told; a failure counts as the slowest."""
        slowest = max(self.times_us)
        return np.asarray(
            np.log([slowest if t.time_us is None else t.time_us for _, t in self.told])
        )

    @abstractmethod
    def _scores(self, rows: Matrix) -> Vector:
        """How much each row promises, 0 or more, by a model of all that was told."""

    @abstractmethod
    def _likeness(self, rows: Matrix, row: Vector) -> Vector:
        """From 0 to 1: how much of a row's promise goes once the other one is tried."""
