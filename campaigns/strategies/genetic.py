"""A genetic search: two of the best are mixed knob by knob, and something is changed at random."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from campaigns.strategies.base import DRAWS, Point, SearchStrategy

POPULATION = 20
# Changed knobs of a child, on average.
MUTATIONS = 1.0


class Genetic(SearchStrategy):
    def _propose(self, n: int) -> Iterator[Point]:
        parents = self.best(POPULATION)
        if len(self.told) < POPULATION or len(parents) < 2:
            return
        for _ in range(DRAWS * n):
            yield self._child(self._fitter(parents), self._fitter(parents))

    def _fitter(self, parents: Sequence[Point]) -> Point:
        """The better of two at random."""
        return parents[min(self.random.randrange(len(parents)) for _ in range(2))]

    def _child(self, one: Point, other: Point) -> Point:
        child = {name: self.random.choice((one, other))[name] for name in one}
        for knob in self.space.knobs:
            if self.random.random() < MUTATIONS / len(child):
                child[knob.name] = self.random.choice(knob.values)
        return child
