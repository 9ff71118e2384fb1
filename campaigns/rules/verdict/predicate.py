"""Which calls a specialised kernel takes: a predicate on the kernel's arguments (R19).

It is derived from the declared cases and covers no more than they show: calls between a class that
takes the variant and one that does not go to the incumbent's kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

Point = tuple[int, ...]

# The number of columns tried together before all of them are tried.
MOST_TOGETHER = 3


class Inseparable(ValueError):
    """The kernel's arguments do not distinguish the classes; the message names them."""


@dataclass(frozen=True, slots=True)
class ColumnRange:
    """low ≤ column ≤ high; None is no bound on that side, and not both are None."""

    column: str
    low: int | None
    high: int | None

    def holds(self, value: int) -> bool:
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def tests(self) -> Iterator[tuple[str, int]]:
        """Its comparisons as (operator, limit)."""
        if self.low is not None and self.low == self.high:
            yield "==", self.low
            return
        if self.low is not None:
            yield ">=", self.low
        if self.high is not None:
            yield "<=", self.high


@dataclass(frozen=True, slots=True)
class Predicate:
    """True if any of `boxes` holds; a box holds if all of its bounds do."""

    boxes: tuple[tuple[ColumnRange, ...], ...]

    def holds(self, params: Mapping[str, object]) -> bool:
        """Say whether a call with these integers goes to the variant."""
        return any(
            all(isinstance(v := params.get(b.column), int) and b.holds(v) for b in box)
            for box in self.boxes
        )

    @property
    def words(self) -> str:
        """As people read it: "D ≥ 2048", "D = 128 and N ≤ 64 or D ≥ 4096"."""
        return self.code(" and ", " or ", {">=": "≥", "<=": "≤", "==": "="})

    def code(self, both: str, either: str, signs: Mapping[str, str] | None = None) -> str:
        """As an expression, with these words between comparisons and between boxes."""
        shown = dict(signs or {})
        texts = [
            both.join(
                f"{bound.column} {shown.get(sign, sign)} {limit}"
                for bound in box
                for sign, limit in bound.tests()
            )
            for box in self.boxes
        ]
        several = len(texts) > 1 and not shown
        return either.join(f"({text})" if several and both in text else text for text in texts)


@dataclass(frozen=True, slots=True)
class Multiples:
    """Each of these columns is a multiple of `step`: where a kernel's tiles fit."""

    columns: tuple[str, ...]
    step: int

    @property
    def words(self) -> str:
        """As people read it: "N and D are multiples of 8"."""
        are = "is a multiple" if len(self.columns) == 1 else "are multiples"
        return f"{' and '.join(self.columns)} {are} of {self.step}"

    def code(self, both: str, either: str) -> str:
        """As an expression of C and of Python, with this word between comparisons."""
        return both.join(f"{column} % {self.step} == 0" for column in self.columns)


@dataclass(frozen=True, slots=True)
class DispatchProblem:
    """What a dispatcher must distinguish.

    params: case → its parameters. classes: case → its class. taken: the classes that take the
    variant. columns: the problem's class columns. given: the integers that the kernel receives.
    """

    params: Mapping[str, Mapping[str, object]]
    classes: Mapping[str, str]
    taken: frozenset[str]
    columns: tuple[str, ...]
    given: frozenset[str]


def predicate(choice: DispatchProblem) -> Predicate:
    """The shortest predicate that sends the taken classes to the variant, and no other.

    Raises Inseparable if a case of a taken class gives the kernel the same arguments as a case of
    another class, and if there is nothing to distinguish.
    """
    names = _usable(choice)
    inside = {name for name in choice.params if choice.classes.get(name) in choice.taken}
    outside = set(choice.params) - inside
    if not inside or not outside:
        raise Inseparable("classes: nothing to dispatch on; accepted: some that take the variant")
    found = []
    for together in _subsets(names):
        points = {case: _point(choice.params[case], together) for case in choice.params}
        wanted, others = {points[c] for c in inside}, {points[c] for c in outside}
        if not wanted & others:
            found.append(_boxes(together, sorted(wanted), others))
    if not found:
        raise Inseparable(_why(choice, names, inside, outside))
    return min(found, key=_length)


def _usable(choice: DispatchProblem) -> tuple[str, ...]:
    """The integers that every case has and the kernel receives, the class columns first."""
    cases = choice.params.values()
    known = [name for case in cases for name in case]
    ordered = dict.fromkeys((*choice.columns, *known))
    return tuple(
        name
        for name in ordered
        if name in choice.given and all(_is_integer(case.get(name)) for case in cases)
    )


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for size in range(1, min(MOST_TOGETHER, len(names)) + 1):
        yield from combinations(names, size)
    if len(names) > MOST_TOGETHER:
        yield tuple(names)


def _point(params: Mapping[str, object], names: Sequence[str]) -> Point:
    return tuple(value for name in names if isinstance(value := params[name], int))


def _boxes(names: Sequence[str], wanted: Sequence[Point], others: Iterable[Point]) -> Predicate:
    """Join the points into the fewest boxes that hold none of the others, then drop idle bounds."""
    strangers = list(others)
    boxes: list[list[tuple[int | None, int | None]]] = []
    for point in wanted:
        for box in boxes:
            joined = [_widened(side, at) for side, at in zip(box, point, strict=True)]
            if not any(_inside(joined, stranger) for stranger in strangers):
                box[:] = joined
                break
        else:
            boxes.append([(at, at) for at in point])
    bounds = []
    for box in boxes:
        _loosen(box, strangers)
        kept = (ColumnRange(n, low, high) for n, (low, high) in zip(names, box, strict=True))
        bounds.append(tuple(b for b in kept if b.low is not None or b.high is not None))
    return Predicate(tuple(bounds))


def _loosen(box: list[tuple[int | None, int | None]], strangers: Sequence[Point]) -> None:
    """Drop each bound that excludes no case: last column first, both sides before one."""
    for index in reversed(range(len(box))):
        low, high = box[index]
        for side in ((None, None), (low, None), (None, high)):
            tried = [*box[:index], side, *box[index + 1 :]]
            if not any(_inside(tried, stranger) for stranger in strangers):
                box[index] = side
                break


def _widened(side: tuple[int | None, int | None], at: int) -> tuple[int | None, int | None]:
    low, high = side
    return (None if low is None else min(low, at)), (None if high is None else max(high, at))


def _inside(box: Sequence[tuple[int | None, int | None]], point: Point) -> bool:
    return all(
        (low is None or at >= low) and (high is None or at <= high)
        for (low, high), at in zip(box, point, strict=True)
    )


def _length(found: Predicate) -> tuple[int, int]:
    """Sort key: fewer boxes first, then fewer comparisons."""
    tests = sum(1 for box in found.boxes for bound in box for _ in bound.tests())
    return len(found.boxes), tests


def _why(choice: DispatchProblem, names: Sequence[str], inside: set[str], outside: set[str]) -> str:
    """Name two cases that no predicate can distinguish."""
    if not names:
        return (
            "the kernel receives none of the cases' integers; accepted: cases with integer "
            "parameters that are arguments of the kernel as well"
        )
    alike = (
        (one, other)
        for one in sorted(inside)
        for other in sorted(outside)
        if _point(choice.params[one], names) == _point(choice.params[other], names)
    )
    one, other = next(alike)
    return (
        f"{one} ({choice.classes.get(one) or 'no class'}) and "
        f"{other} ({choice.classes.get(other) or 'no class'}) give the kernel the same "
        f"{', '.join(names)}, so no predicate can distinguish them"
    )
