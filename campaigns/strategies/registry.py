"""The searches without a model, all strategies by name, and the one taken where none is named."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import islice

from campaigns.strategies.base import DRAWS, NEIGHBOURS, Point, SearchStrategy, SearchTrial
from campaigns.strategies.model import Forest, Gaussian, Portfolio

# A time e^0.5 of the present one is taken once in e times at first; after 60 trials one of e^0.05.
HOT, COOLING = 0.5, 0.1 ** (1 / 60)
POPULATION = 20
# Changed knobs of a child, on average.
MUTATIONS = 1.0


class RandomSampling(SearchStrategy):
    """Points drawn at random: what every other strategy has to beat."""

    refines = False

    def _propose(self, n: int) -> Iterable[Point]:
        return ()


class Annealing(SearchStrategy):
    """Step by step, rarely to a worse point (Kirkpatrick, Gelatt and Vecchi 1983).

    A batch is so many neighbours of where the search stands; they are looked at in order.
    """

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


class Genetic(SearchStrategy):
    """Two of the best are mixed knob by knob, and something is changed at random."""

    def _propose(self, n: int) -> Iterator[Point]:
        parents = self.best(POPULATION)
        if len(self.told) < POPULATION or len(parents) < 2:
            return
        for _ in range(DRAWS * n):
            # Each parent is the better of two at random.
            pair = [min(self.random.randrange(len(parents)) for _ in range(2)) for _ in range(2)]
            one, other = (parents[at] for at in pair)
            child = {name: self.random.choice((one, other))[name] for name in one}
            for knob in self.space.knobs:
                if self.random.random() < MUTATIONS / len(child):
                    child[knob.name] = self.random.choice(knob.values)
            yield child


STRATEGIES: dict[str, type[SearchStrategy]] = {
    "random": RandomSampling,
    "annealing": Annealing,
    "genetic": Genetic,
    "forest": Forest,
    "gaussian": Gaussian,
    "portfolio": Portfolio,
}
# Of all here and of Kernel Tuner the one that needed the fewest evaluations, over all recorded
# landscapes (docs/benchmarks/search-replay.md).
DEFAULT = "annealing"


def strategy_named(name: str) -> type[SearchStrategy]:
    """Raises ValueError, which says what is accepted."""
    if name not in STRATEGIES:
        raise ValueError(f"{name}: {', '.join(STRATEGIES)} are accepted")
    return STRATEGIES[name]
