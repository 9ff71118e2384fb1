"""Points as vectors for models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from random import Random

import numpy as np
from numpy.typing import NDArray

from campaigns.evaluator.contract import Param
from campaigns.strategies.base import NEIGHBOURS, Point, SearchKnob, SearchSpace

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

# A space of no more points is scored whole; of a larger one about so many, near the best and drawn.
SCORED = 4_000
STEPS = 3


class PointEncoder:
    """Points → rows of numbers from 0 to 1, knobs of one value left out.

    Numbers become their rank, which puts powers of two at equal distances; every other value
    becomes a column of its own.
    """

    def __init__(self, knobs: Sequence[SearchKnob]) -> None:
        self._columns = [(knob.name, _codes(knob)) for knob in knobs if len(knob.values) > 1]
        self.width = sum(len(next(iter(codes.values()))) for _, codes in self._columns)

    def __call__(self, points: Sequence[Point]) -> Matrix:
        """Shape: points, width."""
        rows = [
            [x for name, codes in self._columns for x in codes[point[name]]] for point in points
        ]
        return np.array(rows, dtype=float).reshape(len(points), self.width)


def _codes(knob: SearchKnob) -> dict[Param, tuple[float, ...]]:
    values = list(knob.values)
    if all(isinstance(value, int | float) for value in values):
        ranked = sorted(values, key=float)
        return {value: (at / (len(ranked) - 1),) for at, value in enumerate(ranked)}
    places = range(len(values))
    return {value: tuple(float(at == i) for i in places) for at, value in enumerate(values)}


class CandidatePool:
    """The points that a model may choose among: all of a small space, else some of a large one."""

    def __init__(self, space: SearchSpace, encode: PointEncoder, rng: Random) -> None:
        self._space, self._encode, self._rng = space, encode, rng
        self._whole = list(space.points_at_most(SCORED)) if space.size <= SCORED else []
        self._rows = encode(self._whole)

    def draw(
        self, best: Sequence[Point], is_new: Callable[[Point], bool]
    ) -> tuple[list[Point], Matrix]:
        """Points that are new, in a random order, with their rows. best: those to look near."""
        if self._whole:
            at = [i for i, point in enumerate(self._whole) if is_new(point)]
            self._rng.shuffle(at)
            return [self._whole[i] for i in at], self._rows[at]
        points = list(filter(is_new, self._near(best)))
        draws = (self._space.sample(self._rng) for _ in range(SCORED // 4))
        points += [point for point in draws if point is not None and is_new(point)]
        return points, self._encode(points)

    def _near(self, best: Sequence[Point]) -> Iterable[Point]:
        """Next to each of the best, then next to some of those, and so on."""
        share = SCORED // (4 * STEPS * max(1, len(best)))
        for point in best:
            ring: list[Point] = [point]
            for _ in range(STEPS):
                reached = [
                    near
                    for start in ring
                    for near in islice(self._space.neighbours(start), NEIGHBOURS)
                ]
                ring = self._rng.sample(reached, min(share, len(reached)))
                yield from ring
