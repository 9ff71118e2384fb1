"""Searches with models of the space: some first points, then what the models promise most of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Protocol

import numpy as np

from campaigns.strategies.base import Point, SearchSpace, SearchStrategy
from campaigns.strategies.encoding import CandidatePool, Matrix, PointEncoder, Vector
from campaigns.strategies.forest import ForestModel
from campaigns.strategies.gaussian import GaussianModel

# Trials before a model is asked, which are far apart: each is the farthest of so many draws. Then,
# the best points of which the neighbourhood is looked at.
FIRST, DRAWS_EACH, BEST = 16, 4, 5


class SurrogateModel(Protocol):
    """Guesses from the trials so far how good other points are."""

    def fit(self, rows: Matrix, slowness: Vector, seed: int) -> None:
        """slowness: normal scores of the times, the fastest first; failures are the slowest."""

    def promise(self, rows: Matrix) -> Vector:
        """How much is to be hoped of each row, 0 or more."""

    def likeness(self, rows: Matrix, row: Vector) -> Vector:
        """From 0 to 1: what part of a row's promise goes once this other one is tried."""


class ModelSearch(SearchStrategy):
    """The models take turns within a batch, and learn from all trials, whoever chose them."""

    models: ClassVar[Sequence[type[SurrogateModel]]]

    def __init__(self, space: SearchSpace, seed: int = 0, seeds: Iterable[Point] = ()) -> None:
        super().__init__(space, seed, seeds)
        self._encode = PointEncoder(space.knobs)
        self._pool = CandidatePool(space, self._encode, self.random)
        self._models = [model() for model in self.models]

    def _propose(self, n: int) -> Iterator[Point]:
        """A promise sinks next to what is chosen or not told yet."""
        if len(self.told) < FIRST or not any(self.times_us):
            yield from self._spread(n)
            return
        points, rows = self._pool.draw(self.best(BEST), self.is_new)
        if not points:
            return
        promises = self._promises(rows)
        free = np.ones(len(points), dtype=bool)
        for turn in range(min(n, len(points))):
            promise = promises[turn % len(promises)]
            at = int(np.argmax(np.where(free, promise, -1.0)))
            free[at] = False
            yield points[at]
            self._lessen(promises, rows, rows[at])

    def _spread(self, n: int) -> Iterator[Point]:
        """Draws far from all that is known and from each other."""
        draws = [point for point in self.drawn(DRAWS_EACH * n) if self.is_new(point)]
        rows = self._encode(draws)
        apart = np.full(len(draws), np.inf)
        for known in self._encode([point for point, _ in self.told] + [*self.pending.values()]):
            apart = np.minimum(apart, np.abs(rows - known).sum(axis=1))
        for _ in range(min(n, len(draws))):
            at = int(np.argmax(apart))
            yield draws[at]
            apart = np.minimum(apart, np.abs(rows - rows[at]).sum(axis=1))

    def _promises(self, rows: Matrix) -> list[Vector]:
        known = self._encode([point for point, _ in self.told])
        slowness = self._slowness()
        for model in self._models:
            model.fit(known, slowness, self.random.randrange(2**31))
        promises = [model.promise(rows) for model in self._models]
        for waiting in self._encode(list(self.pending.values())):
            self._lessen(promises, rows, waiting)
        return promises

    def _lessen(self, promises: Sequence[Vector], rows: Matrix, row: Vector) -> None:
        for model, promise in zip(self._models, promises, strict=True):
            promise *= 1 - model.likeness(rows, row)

    def _slowness(self) -> Vector:
        """Ranks rather than times: what is slow may be slow by any factor."""
        from scipy.stats import norm, rankdata

        slowest = max(self.times_us)
        times = [slowest if one.time_us is None else one.time_us for _, one in self.told]
        return np.asarray(norm.ppf((rankdata(times) - 0.5) / len(times)))


class Forest(ModelSearch):
    models = (ForestModel,)


class Gaussian(ModelSearch):
    models = (GaussianModel,)


class Portfolio(ModelSearch):
    """Each model is the better one on some spaces; half of every batch is each one's choice."""

    models = (GaussianModel, ForestModel)
