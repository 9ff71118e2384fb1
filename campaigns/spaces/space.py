"""A space of points: which knobs a source has, which values each may take, which go together.

Nothing here counts a space out: one of 10^12 points is searched like one of ten.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from random import Random

from campaigns.evaluator.contract import Param
from campaigns.spaces.expressions import names_of, python_expression, value_of

Point = Mapping[str, Param]

# Draws before a point is looked for step by step, and how many dead ends that may meet.
DRAWS = 100
DEAD_ENDS = 10_000


@dataclass(frozen=True, slots=True)
class Site:
    """One place of the source that a knob's value is written to: bytes [start, end).

    form: the new text, with {} for the value. says: the value that the source has already, for
    which nothing is written. when: a knob and the value that it must have for this to be written.
    """

    start: int
    end: int
    form: str = "{}"
    says: Param | None = None
    when: tuple[str, Param] | None = None


@dataclass(frozen=True, slots=True)
class Knob:
    """One choice: a name, the values to choose from, the present one, and where it is written."""

    name: str
    values: tuple[Param, ...]
    default: Param
    sites: tuple[Site, ...] = ()

    def __post_init__(self) -> None:
        if self.default not in self.values or len(set(self.values)) < len(self.values):
            raise ValueError(f"{self.name}: {self.values} has to list {self.default!r}, each once")


@dataclass(frozen=True, slots=True)
class KnobConstraint:
    """What has to hold of a point, as an expression over knobs, and why."""

    expression: str
    reason: str

    @property
    def names(self) -> frozenset[str]:
        """The knobs that it speaks of."""
        expression = python_expression(self.expression)
        return names_of(expression) if expression is not None else frozenset()

    def holds(self, point: Point) -> bool:
        """Whether the point keeps to it. ValueError for a text that is no expression."""
        return bool(value_of(self.expression, point))


@dataclass(frozen=True)
class Space:
    """Knobs and what has to hold between them. ValueError for names that do not fit together."""

    knobs: tuple[Knob, ...]
    constraints: tuple[KnobConstraint, ...] = ()

    def __post_init__(self) -> None:
        names = [knob.name for knob in self.knobs]
        if len(set(names)) < len(names):
            raise ValueError(f"two knobs have one name: {', '.join(names)}")
        for constraint in self.constraints:
            if not constraint.names or constraint.names - set(names):
                raise ValueError(f"{constraint.expression}: speaks of no knob, or of another's")

    @property
    def size(self) -> int:
        """How many points there are, legal or not."""
        return math.prod(len(knob.values) for knob in self.knobs)

    @property
    def defaults(self) -> dict[str, Param]:
        """The point that the source is at."""
        return {knob.name: knob.default for knob in self.knobs}

    def is_legal(self, point: Point) -> str:
        """Why the point may not be tried; "" for one that may."""
        if set(point) != {knob.name for knob in self.knobs}:
            return f"the knobs are {', '.join(knob.name for knob in self.knobs) or 'none'}"
        for knob in self.knobs:
            if point[knob.name] not in knob.values:
                return f"{knob.name} is one of {', '.join(map(str, knob.values))}"
        return next((c.reason for c in self.constraints if not c.holds(point)), "")

    def sample(self, rng: Random) -> dict[str, Param] | None:
        """A legal point by chance; None where none was found in a bounded search.

        Each legal point is as likely as any other unless they are rarer than one in `DRAWS`.
        """
        for _ in range(DRAWS):
            point = {knob.name: rng.choice(knob.values) for knob in self.knobs}
            if not self.is_legal(point):
                return point
        found = self._walk(lambda values: rng.sample(values, len(values)))
        return next(filter(None, islice(found, DEAD_ENDS)), None)

    def neighbours(self, point: Point) -> Iterator[dict[str, Param]]:
        """The legal points that differ from this one in one knob, those by one step first."""
        for distance in range(1, max((len(k.values) for k in self.knobs), default=0)):
            for knob in self.knobs:
                at = knob.values.index(point[knob.name])
                for there in (at - distance, at + distance):
                    if 0 <= there < len(knob.values):
                        other = {**point, knob.name: knob.values[there]}
                        if not self.is_legal(other):
                            yield other

    def points(self) -> Iterator[dict[str, Param]]:
        """Every legal point, lazily, in the order of the values."""
        return (point for point in self._walk(tuple) if point is not None)

    def points_at_most(self, n: int) -> list[dict[str, Param]]:
        """The first n legal points; all of them where there are fewer.

        The search is bounded: in a space where dead ends are many, some may be missing.
        """
        found = (p for p in islice(self._walk(tuple), n + DEAD_ENDS) if p is not None)
        return list(islice(found, n))

    @cached_property
    def _due(self) -> list[list[KnobConstraint]]:
        """For each knob the constraints that can be looked at once it has a value."""
        order = {knob.name: at for at, knob in enumerate(self.knobs)}
        due: list[list[KnobConstraint]] = [[] for _ in self.knobs]
        for constraint in self.constraints:
            due[max(order[name] for name in constraint.names)].append(constraint)
        return due

    def _walk(
        self, ordered: Callable[[tuple[Param, ...]], Iterable[Param]]
    ) -> Iterator[dict[str, Param] | None]:
        """Legal points, and None for each dead end, so that a caller can count those."""
        point: dict[str, Param] = {}

        def descend(depth: int) -> Iterator[dict[str, Param] | None]:
            if depth == len(self.knobs):
                yield dict(point)
                return
            knob = self.knobs[depth]
            for value in ordered(knob.values):
                point[knob.name] = value
                if all(constraint.holds(point) for constraint in self._due[depth]):
                    yield from descend(depth + 1)
                else:
                    yield None

        return descend(0)


class KnobList:
    """Knobs in the order of their worth."""

    def __init__(self) -> None:
        self.knobs: list[Knob] = []

    def add(
        self, name: str, values: tuple[Param, ...], default: Param, *sites: Site
    ) -> ast.Name | ast.Constant:
        """Add a knob; what stands for it in expressions: its final name.

        A knob of a name that is taken is numbered. Where there is nothing to choose from, none is
        added, and the value itself is answered.
        """
        if len(values) < 2:
            return ast.Constant(default)
        taken = {knob.name for knob in self.knobs}
        free, number = name, 2
        while free in taken:
            free, number = f"{name}_{number}", number + 1
        self.knobs.append(Knob(free, values, default, sites))
        return ast.Name(free, ast.Load())
