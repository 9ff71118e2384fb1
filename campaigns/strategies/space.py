"""What a search needs to know of the space that it searches."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

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
