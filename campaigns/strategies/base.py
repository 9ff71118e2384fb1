"""One interface for every search: ask for points, tell how each went.

A strategy never repeats a point, asks the seeds first, and asks legal points only; what is left to
each one is the order of the rest.
"""

from __future__ import annotations

import math
import random
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, combinations, islice
from typing import ClassVar, Protocol

from campaigns.evaluator.contract import Param

# The value of every knob, by its name.
Point = Mapping[str, Param]


class SearchKnob(Protocol):
    """One choice. values: in their order, where they have one."""

    @property
    def name(self) -> str: ...

    @property
    def values(self) -> Sequence[Param]: ...


class SearchSpace(Protocol):
    """Points with rules on which of them are legal; it may be too large to be listed."""

    @property
    def knobs(self) -> Sequence[SearchKnob]: ...

    @property
    def size(self) -> int:
        """How many points it has, illegal ones counted or not."""

    def is_legal(self, point: Point) -> str:
        """Empty where it is; else why not."""

    def sample(self, rng: random.Random) -> Point | None:
        """Any legal point; None where none was found."""

    def neighbours(self, point: Point) -> Iterable[Point]:
        """The legal points that differ in one knob."""

    def points_at_most(self, n: int) -> Iterable[Point]:
        """The first n legal points; all of them where there are no more."""


# Random draws for each point that is asked for, before what is left is looked for in order.
DRAWS = 32
# Looked at around the best point: of 16 knobs all single steps, and some pairs.
AROUND = 100
# When draws find nothing new: how far around the last points, and through the whole space, to look.
LAST, NEIGHBOURS, LISTED = 20, 2_000, 20_000


class TrialFailure(StrEnum):
    """Why a point has no time."""

    BUILD_FAILED = "build_failed"
    WRONG = "wrong"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    PRUNED = "pruned"


@dataclass(frozen=True, slots=True)
class SearchTrial:
    """A time, or why there is none. Raises ValueError where it is not just one of both."""

    time_us: float | None = None
    failure: TrialFailure | None = None

    def __post_init__(self) -> None:
        if (self.time_us is None) == (self.failure is None):
            raise ValueError(f"{self}: a time or a failure is accepted, not both")
        if self.time_us is not None and not 0 < self.time_us < math.inf:
            raise ValueError(f"time_us {self.time_us}: a positive number of µs is accepted")


class SearchStrategy(ABC):
    """seed: the same one gives the same order. seeds: points to try first, illegal ones skipped.

    refines: whether half of every batch after the seeds is around the best point.
    """

    refines: ClassVar = True

    def __init__(self, space: SearchSpace, seed: int = 0, seeds: Iterable[Point] = ()) -> None:
        self.space = space
        self.random = random.Random(seed)
        self.told: list[tuple[Point, SearchTrial]] = []
        self.pending: dict[tuple[Param, ...], Point] = {}
        self._seen: set[tuple[Param, ...]] = set()
        self._seeds = deque(seeds)
        self._names = tuple(knob.name for knob in space.knobs)

    def ask(self, n: int) -> list[Point]:
        """The next points to try, best first; fewer than n only where no other is found."""
        steps = (self._seeded, self._refine, self._propose, self._rest)
        offered = chain.from_iterable(step(n) for step in steps)
        return list(islice(filter(self._take, offered), n))

    def tell(self, point: Point, trial: SearchTrial) -> None:
        """How it went. A point that was not asked for teaches as well, and is not asked later."""
        key = self.key(point)
        self._seen.add(key)
        self.pending.pop(key, None)
        self.told.append((point, trial))
        self._learn(point, trial)

    def expected_gain(self) -> float:
        """What part of the best time the next trial is expected to take off; inf: not known yet.

        Without a model, the future is taken to be like the past: what all trials gained on a
        random half of them (delete-half jackknife, Shao and Wu 1989), divided by the other half.
        """
        times = sorted(self.times_us)
        if len(times) < 2:
            return math.inf
        half, rest, expected, chance = len(times) // 2, len(times), 0.0, 1.0
        for time_us in times:  # the best of a half is this one, if it is in it and no better one is
            expected += chance * half / rest * time_us
            chance *= 1 - half / rest
            rest -= 1
        return (expected / times[0] - 1) / (len(self.told) - half)

    @property
    def times_us(self) -> Iterator[float]:
        return (trial.time_us for _, trial in self.told if trial.time_us is not None)

    def best(self, n: int) -> list[Point]:
        """The n fastest so far, fastest first."""
        timed = [(trial.time_us, at) for at, (_, trial) in enumerate(self.told) if trial.time_us]
        return [self.told[at][0] for _, at in sorted(timed)[:n]]

    def key(self, point: Point) -> tuple[Param, ...]:
        return tuple(point[name] for name in self._names)

    def is_new(self, point: Point) -> bool:
        return self.key(point) not in self._seen

    @abstractmethod
    def _propose(self, n: int) -> Iterable[Point]:
        """Points in their order, known and illegal ones allowed; random ones follow by themselves.

        Called when a batch of n is not full of seeds.
        """

    def _learn(self, point: Point, trial: SearchTrial) -> None:  # noqa: B027 - not all need to
        """Called with each trial, in their order."""

    @property
    def is_refined(self) -> bool:
        """Whether it is known how all went that is around the best point."""
        around = map(self.key, self._around() if self.refines else ())
        return all(key in self._seen and key not in self.pending for key in around)

    def _around(self) -> Iterator[Point]:
        """Legal points one step from the best along one knob's values, then along two at once."""
        for best in self.best(1):
            moves = [(knob.name, value) for knob in self.space.knobs for value in _near(knob, best)]
            pairs = (pair for pair in combinations(moves, 2) if pair[0][0] != pair[1][0])
            for changed in islice(chain(zip(moves), pairs), AROUND):
                point = {**best, **dict(changed)}
                if not self.space.is_legal(point):
                    yield point

    def _refine(self, n: int) -> Iterator[Point]:
        if self.refines:
            yield from islice(filter(self.is_new, self._around()), n - n // 2)

    def _seeded(self, n: int) -> Iterator[Point]:
        while self._seeds:
            yield self._seeds.popleft()

    def _rest(self, n: int) -> Iterator[Point]:
        """Random points, then those next to what was tried, then what a small space has left."""
        yield from self.drawn(DRAWS * n)
        for point, _ in self.told[: -LAST - 1 : -1]:
            yield from islice(self.space.neighbours(point), NEIGHBOURS)
        yield from self._shuffled(self.space.points_at_most(LISTED))

    def drawn(self, n: int) -> Iterator[Point]:
        """At most n legal points by chance, known ones among them."""
        draws = (self.space.sample(self.random) for _ in range(n))
        return (point for point in draws if point is not None)

    def _shuffled(self, points: Iterable[Point]) -> Sequence[Point]:
        listed = list(points)
        self.random.shuffle(listed)
        return listed

    def _take(self, point: Point) -> bool:
        """Whether it is asked now."""
        if self.space.is_legal(point) or not self.is_new(point):
            return False
        key = self.key(point)
        self._seen.add(key)
        self.pending[key] = point
        return True


def _near(knob: SearchKnob, point: Point) -> Iterator[Param]:
    """The values next to the point's; where they have no order, all others."""
    at, values = list(knob.values).index(point[knob.name]), knob.values
    has_order = all(isinstance(value, int | float) for value in values)
    places = (at - 1, at + 1) if has_order else range(len(values))
    yield from (values[place] for place in places if 0 <= place < len(values) and place != at)


@dataclass(frozen=True, slots=True)
class StopRule:
    """least_gain: of the next trial, as a part of the best time. least_trials: before it counts.

    What is around the best point is tried before a small gain ends a search.
    """

    most_trials: int
    most_s: float = math.inf
    least_gain: float = 0.001
    least_trials: int = 64

    def reason(self, strategy: SearchStrategy, spent_s: float = 0.0) -> str:
        """Why the search ends now, as a sentence; empty while it goes on."""
        made = len(strategy.told)
        if made >= self.most_trials:
            return f"All {self.most_trials} trials of the budget were made."
        if spent_s >= self.most_s:
            return f"The {self.most_s:.0f} s of the budget are spent."
        if made < self.least_trials or not strategy.is_refined:
            return ""
        if (gain := strategy.expected_gain()) < self.least_gain:
            return (
                f"After {made} trials the next one is expected to gain {gain:.2%}, "
                f"less than {self.least_gain:.2%}."
            )
        return ""
