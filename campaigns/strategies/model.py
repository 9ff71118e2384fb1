"""Searches with models of the space: some first points, then what the models promise most of.

A model is fit with rows of knobs and their slowness: normal scores of the times, the fastest first;
failures are the slowest. `promise` is how much is to be hoped of each row, 0 or more, `likeness`
from 0 to 1 what part of a row's promise goes once another one is tried.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from campaigns.evaluator.contract import Param
from campaigns.strategies.base import NEIGHBOURS, Point, SearchKnob, SearchSpace, SearchStrategy

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.gaussian_process import GaussianProcessRegressor

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

# Trials before a model is asked, which are far apart: each is the farthest of so many draws. Then,
# the best points of which the neighbourhood is looked at.
FIRST, DRAWS_EACH, BEST = 16, 4, 5
# A space of no more points is scored whole; of a larger one about so many, near the best and drawn.
SCORED = 4_000
STEPS = 3
# The share of trials that counts as good.
GOOD = 0.2
TREES = 60
# What is left of a promise for each column in which a point differs from a tried one.
APART = 0.3
# Bounds of the process, for knobs from 0 to 1 and a spread of 1: its own spread, how far along a
# knob points resemble each other, and how much of what is measured is noise.
SPREAD, LENGTH, NOISE = (0.05, 20.0), (0.05, 20.0), (1e-6, 0.1)


class PointEncoder:
    """Points → rows of numbers from 0 to 1, knobs of one value left out.

    Numbers become their rank, which puts powers of two at equal distances; every other value
    becomes a column of its own.
    """

    def __init__(self, knobs: Sequence[SearchKnob]) -> None:
        self._columns = [(knob.name, _codes(knob)) for knob in knobs if len(knob.values) > 1]

    def __call__(self, points: Sequence[Point]) -> Matrix:
        """Shape: points, columns."""
        width = sum(len(next(iter(codes.values()))) for _, codes in self._columns)
        rows = [
            [x for name, codes in self._columns for x in codes[point[name]]] for point in points
        ]
        return np.array(rows, dtype=float).reshape(len(points), width)


def _codes(knob: SearchKnob) -> dict[Param, tuple[float, ...]]:
    values = list(knob.values)
    if all(isinstance(value, int | float) for value in values):
        ranked = sorted(values, key=float)
        return {value: (at / (len(ranked) - 1),) for at, value in enumerate(ranked)}
    places = range(len(values))
    return {value: tuple(float(at == i) for i in places) for at, value in enumerate(values)}


class ForestModel:
    """A random forest that says which points are like the good ones; failures teach it as well."""

    _trees: RandomForestClassifier

    def fit(self, rows: Matrix, slowness: Vector, seed: int) -> None:
        from sklearn.ensemble import RandomForestClassifier

        good = slowness <= np.quantile(slowness, GOOD)
        self._trees = RandomForestClassifier(TREES, min_samples_leaf=2, random_state=seed)
        self._trees.fit(rows, good)

    def promise(self, rows: Matrix) -> Vector:
        return np.asarray(self._trees.predict_proba(rows)[:, -1])

    def likeness(self, rows: Matrix, row: Vector) -> Vector:
        return np.asarray(APART ** (rows != row).sum(axis=1))


class GaussianModel:
    """A Gaussian process with expected improvement (Jones, Schonlau and Welch 1998)."""

    _process: GaussianProcessRegressor | None = None
    _least = 0.0

    def fit(self, rows: Matrix, slowness: Vector, seed: int) -> None:
        """Begun where the last fit ended."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

        shape = Matern(np.ones(rows.shape[1]), LENGTH, nu=2.5)
        kernel = ConstantKernel(1.0, SPREAD) * shape + WhiteKernel(1e-3, NOISE)
        if self._process is not None:
            kernel = self._process.kernel_
        self._least = float(slowness.min())
        self._process = GaussianProcessRegressor(kernel)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._process.fit(rows, slowness)

    def promise(self, rows: Matrix) -> Vector:
        from scipy.stats import norm

        assert self._process is not None
        mean, sigma = self._process.predict(rows, return_std=True)
        noise = self._process.kernel_.k2.noise_level
        sigma = np.sqrt(np.maximum(sigma**2 - noise, 1e-12))
        ahead = self._least - mean
        return np.asarray(ahead * norm.cdf(ahead / sigma) + sigma * norm.pdf(ahead / sigma))

    def likeness(self, rows: Matrix, row: Vector) -> Vector:
        assert self._process is not None
        return np.asarray(self._process.kernel_.k1.k2(rows, row.reshape(1, -1))[:, 0])


class ModelSearch(SearchStrategy):
    """The models take turns within a batch, and learn from all trials, whoever chose them."""

    models: ClassVar[Sequence[type[ForestModel | GaussianModel]]]

    def __init__(self, space: SearchSpace, seed: int = 0, seeds: Iterable[Point] = ()) -> None:
        super().__init__(space, seed, seeds)
        self._encode = PointEncoder(space.knobs)
        self._whole = list(space.points_at_most(SCORED)) if space.size <= SCORED else []
        self._rows = self._encode(self._whole)
        self._models = [model() for model in self.models]

    def _propose(self, n: int) -> Iterator[Point]:
        """A promise sinks next to what is chosen or not told yet."""
        if len(self.told) < FIRST or not any(self.times_us):
            yield from self._spread(n)
            return
        points, rows = self._pool()
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

    def _pool(self) -> tuple[list[Point], Matrix]:
        """New points that a model may choose among, with their rows.

        All of a small space in a random order; of a large one those near the best, and some drawn.
        """
        if self._whole:
            at = [i for i, point in enumerate(self._whole) if self.is_new(point)]
            self.random.shuffle(at)
            return [self._whole[i] for i in at], self._rows[at]
        points = list(filter(self.is_new, self._near(self.best(BEST))))
        points += filter(self.is_new, self.drawn(SCORED // 4))
        return points, self._encode(points)

    def _near(self, best: Sequence[Point]) -> Iterator[Point]:
        """Next to each of the best, then next to some of those, and so on."""
        share = SCORED // (4 * STEPS * max(1, len(best)))
        for point in best:
            ring: list[Point] = [point]
            for _ in range(STEPS):
                reached = [
                    near
                    for start in ring
                    for near in islice(self.space.neighbours(start), NEIGHBOURS)
                ]
                ring = self.random.sample(reached, min(share, len(reached)))
                yield from ring

    def _promises(self, rows: Matrix) -> list[Vector]:
        from scipy.stats import norm, rankdata

        known = self._encode([point for point, _ in self.told])
        # Ranks rather than times: what is slow may be slow by any factor.
        slowest = max(self.times_us)
        times = [slowest if one.time_us is None else one.time_us for _, one in self.told]
        slowness = np.asarray(norm.ppf((rankdata(times) - 0.5) / len(times)))
        for model in self._models:
            model.fit(known, slowness, self.random.randrange(2**31))
        promises = [model.promise(rows) for model in self._models]
        for waiting in self._encode(list(self.pending.values())):
            self._lessen(promises, rows, waiting)
        return promises

    def _lessen(self, promises: Sequence[Vector], rows: Matrix, row: Vector) -> None:
        for model, promise in zip(self._models, promises, strict=True):
            promise *= 1 - model.likeness(rows, row)


class Forest(ModelSearch):
    models = (ForestModel,)


class Gaussian(ModelSearch):
    models = (GaussianModel,)


class Portfolio(ModelSearch):
    """Each model is the better one on some spaces; half of every batch is each one's choice."""

    models = (GaussianModel, ForestModel)
