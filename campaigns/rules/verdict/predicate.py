"""Which calls a specialised kernel takes: a predicate on the kernel's arguments (R19).

It is derived from the declared cases and covers no more than they show: calls between a class that
takes the variant and one that does not go to the incumbent's kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

Point = tuple[int, ...]
Side = tuple[int | None, int | None]

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

    @property
    def tests(self) -> list[tuple[str, int]]:
        """Its comparisons as (operator, limit)."""
        if self.low is not None and self.low == self.high:
            return [("==", self.low)]
        both = ((">=", self.low), ("<=", self.high))
        return [(sign, limit) for sign, limit in both if limit is not None]


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
        """Words for people: "D ≥ 2048", "D = 128 and N ≤ 64 or D ≥ 4096"."""
        return self.code(" and ", " or ", {">=": "≥", "<=": "≤", "==": "="})

    def code(self, both: str, either: str, signs: Mapping[str, str] | None = None) -> str:
        """An expression, with these words between comparisons and between boxes."""
        shown = dict(signs or {})
        texts = [
            both.join(
                f"{bound.column} {shown.get(sign, sign)} {limit}"
                for bound in box
                for sign, limit in bound.tests
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
        """Words for people: "N and D are multiples of 8"."""
        are = "is a multiple" if len(self.columns) == 1 else "are multiples"
        return f"{' and '.join(self.columns)} {are} of {self.step}"

    def code(self, both: str, either: str) -> str:
        """An expression of C and of Python, with this word between comparisons."""
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
    sizes = range(1, min(MOST_TOGETHER, len(names)) + 1)
    subsets = [together for size in sizes for together in combinations(names, size)]
    found = []
    for together in [*subsets, names] if len(names) > MOST_TOGETHER else subsets:
        points = {case: _point(choice.params[case], together) for case in choice.params}
        wanted, others = {points[c] for c in inside}, {points[c] for c in outside}
        if not wanted & others:
            found.append(_boxes(together, sorted(wanted), list(others)))
    if not found:
        raise Inseparable(_why(choice, names, inside, outside))
    # Fewer boxes first, then fewer comparisons.
    return min(
        found, key=lambda p: (len(p.boxes), sum(len(b.tests) for box in p.boxes for b in box))
    )


def _usable(choice: DispatchProblem) -> tuple[str, ...]:
    """The integers that every case has and the kernel receives, the class columns first."""
    cases = list(choice.params.values())
    known = dict.fromkeys((*choice.columns, *(name for case in cases for name in case)))
    return tuple(
        name
        for name in known
        # A truth value is an int of Python and no number of a case.
        if name in choice.given and all(type(case.get(name)) is int for case in cases)
    )


def _point(params: Mapping[str, object], names: Sequence[str]) -> Point:
    return tuple(value for name in names if isinstance(value := params[name], int))


def _boxes(names: Sequence[str], wanted: Sequence[Point], strangers: Sequence[Point]) -> Predicate:
    """Join the points into the fewest boxes that hold none of the others, then drop idle bounds."""
    boxes: list[list[Side]] = []
    for point in wanted:
        for box in boxes:
            joined: list[Side] = [
                (None if low is None else min(low, at), None if high is None else max(high, at))
                for (low, high), at in zip(box, point, strict=True)
            ]
            if not any(_inside(joined, stranger) for stranger in strangers):
                box[:] = joined
                break
        else:
            boxes.append([(at, at) for at in point])
    bounds = []
    for box in boxes:
        # Each bound that excludes no case goes: last column first, both sides before one.
        for index in reversed(range(len(box))):
            low, high = box[index]
            for side in ((None, None), (low, None), (None, high)):
                tried = [*box[:index], side, *box[index + 1 :]]
                if not any(_inside(tried, stranger) for stranger in strangers):
                    box[index] = side
                    break
        kept = (ColumnRange(n, low, high) for n, (low, high) in zip(names, box, strict=True))
        bounds.append(tuple(b for b in kept if b.low is not None or b.high is not None))
    return Predicate(tuple(bounds))


def _inside(box: Sequence[Side], point: Point) -> bool:
    return all(
        (low is None or at >= low) and (high is None or at <= high)
        for (low, high), at in zip(box, point, strict=True)
    )


def _why(choice: DispatchProblem, names: Sequence[str], inside: set[str], outside: set[str]) -> str:
    """Name two cases that no predicate can distinguish."""
    if not names:
        return (
            "the kernel receives none of the cases' integers; accepted: cases with integer "
            "parameters that are arguments of the kernel as well"
        )
    points = {case: _point(params, names) for case, params in choice.params.items()}
    alike = product(sorted(inside), sorted(outside))
    pair = next(pair for pair in alike if points[pair[0]] == points[pair[1]])
    one, other = (f"{case} ({choice.classes.get(case) or 'no class'})" for case in pair)
    return (
        f"{one} and {other} give the kernel the same {', '.join(names)}, so no predicate can "
        "distinguish them"
    )
