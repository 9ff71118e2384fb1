"""Where text stands in a drawing: no two texts touch, and none leaves it.

Texts are placed one after the other, the most important first. Each has places, best first; one
that is free nowhere is left out, because the legend and the table below have it, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from campaigns.charts.marks import Mark
from campaigns.rules.verdict.decision import VerdictWord
from knowledge.charts.frame import Frame

MERGE_DISTANCE = 12
# A label names so many rounds, of more the first and the last; the table below has them all.
MOST_NUMBERS, FIRST_NUMBERS = 6, 3
# Half of a glyph's width with some air, and where a number stands clear of it above and below.
GLYPH, UPRIGHT = 8.0, (-18.0, 30.0)
# Ems, of a wide bold typeface: a page is drawn in whatever the reader's system has.
SLIM, WIDE_LETTERS = "iljtfrI.,:;'|!()[]/ ", "mwMW%@…—→"
BOLD, REGULAR = ("number", "value"), 0.92
SLIM_EM, DIGIT_EM, USUAL_EM, CAPITAL_EM, WIDE_EM = 0.42, 0.7, 0.68, 0.78, 1.05

Corner = tuple[float, float]


class Area(NamedTuple):
    """A rectangle that may be turned: its bounds, and its corners in order."""

    left: float
    top: float
    right: float
    bottom: float
    corners: tuple[Corner, ...]

    @staticmethod
    def of(*corners: Corner) -> Area:
        """The rectangle with these corners."""
        across, down = zip(*corners, strict=True)
        return Area(min(across), min(down), max(across), max(down), corners)


@dataclass(frozen=True, slots=True)
class Label:
    """A text at its baseline. angle: in degrees around it. anchor: as SVG has it.

    minor: left out where letters are large. href: a link, for a ceiling's source.
    """

    x: float
    y: float
    text: str
    minor: bool = False
    anchor: str = "start"
    angle: float = 0.0
    css: str = "number"
    href: str = ""


@dataclass(frozen=True, slots=True)
class Letters:
    """How large letters are drawn, in SVG units. glyph: how large its marks are."""

    size: float
    glyph: float

    def width(self, text: str, css: str = "number") -> float:
        """How wide a text is at the most; numbers are bold."""
        return self.size * sum(map(_em, text)) * (1 if css in BOLD else REGULAR)

    def area(self, label: Label) -> Area:
        """The corners of a label, in order."""
        width = self.width(label.text, label.css)
        left = {"start": 0.0, "middle": -width / 2, "end": -width}[label.anchor]
        top, bottom = -0.95 * self.size, 0.3 * self.size
        turn = math.radians(label.angle)
        cos, sin = math.cos(turn), math.sin(turn)
        ends = ((left, top), (left + width, top), (left + width, bottom), (left, bottom))
        corners = ((label.x + x * cos - y * sin, label.y + x * sin + y * cos) for x, y in ends)
        return Area.of(*corners)


# As charts.css has them: on a phone the drawing shrinks, and its letters do not.
WIDE, NARROW = Letters(12, 1.0), Letters(19, 1.4)


def _em(letter: str) -> float:
    if letter in SLIM:
        return SLIM_EM
    if letter.isdigit():
        return DIGIT_EM
    if letter in WIDE_LETTERS:
        return WIDE_EM
    return CAPITAL_EM if letter.isupper() else USUAL_EM


def touch(one: Area, other: Area) -> bool:
    """Whether two rectangles overlap, however they are turned."""
    if one.right <= other.left or other.right <= one.left:
        return False
    if one.bottom <= other.top or other.bottom <= one.top:
        return False
    sides = (*pairwise(one.corners[:3]), *pairwise(other.corners[:3]))
    for (x1, y1), (x2, y2) in sides:
        mine, others = (
            [(x2 - x1) * x + (y2 - y1) * y for x, y in area.corners] for area in (one, other)
        )
        if max(mine) <= min(others) or max(others) <= min(mine):
            return False
    return True


class Placer:
    """Keeps what is taken, in both sizes of letters. top: where the room above the plot begins."""

    def __init__(self, frame: Frame, marks: Iterable[Mark] = (), top: float | None = None) -> None:
        top = frame.top if top is None else top
        self.frame = frame
        self.room = frame.left, top, frame.right + 4, frame.bottom
        places = [(mark.x, mark.y) for mark in marks]
        self._taken = {
            letters: [square(x, y, GLYPH * letters.glyph) for x, y in places]
            for letters in (WIDE, NARROW)
        }

    def place(self, places: Sequence[Label]) -> Label | None:
        """The first place that is free in both sizes, else the first free in small letters."""
        best = next((one for one in places if self._is_free(one, WIDE, NARROW)), None)
        if best is None:
            best = next((one for one in places if self._is_free(one, WIDE)), None)
            if best is None:
                return None
            best = replace(best, minor=True)
        for letters in (WIDE,) if best.minor else (WIDE, NARROW):
            self._taken[letters].append(letters.area(best))
        return best

    def _is_free(self, label: Label, *sizes: Letters) -> bool:
        return all(
            self._holds(area) and not any(touch(area, other) for other in self._taken[letters])
            for letters in sizes
            for area in (letters.area(label),)
        )

    def _holds(self, area: Area) -> bool:
        left, top, right, bottom = self.room
        return (
            left <= area.left and area.right <= right and top <= area.top and area.bottom <= bottom
        )

    def numbers(self, marks: Sequence[Mark], *, above: bool = False) -> tuple[Label, ...]:
        """Number the marks; those that lie together share a label. above: the first place to try.

        Where there is not room for all, accepted rounds come first, then the newest.
        """
        groups = _groups(marks)
        groups.sort(key=lambda group: (not any(map(_is_accepted, group)), -group[-1].number))
        found = []
        for group in groups:
            x, y, text = group[0].x, group[0].y, _numbers(group)
            beside = [Label(x + 13, y + 4, text), Label(x - 13, y + 4, text, anchor="end")]
            upright = [Label(x, y + by, text, anchor="middle") for by in UPRIGHT]
            if label := self.place([*upright, *beside] if above else [*beside, *upright]):
                found.append(label)
        return tuple(sorted(found, key=lambda label: (label.x, label.y)))


def square(x: float, y: float, half: float) -> Area:
    """The rectangle around a point."""
    left, top, right, bottom = x - half, y - half, x + half, y + half
    return Area.of((left, top), (right, top), (right, bottom), (left, bottom))


def _is_accepted(mark: Mark) -> bool:
    return mark.glyph.verdict is VerdictWord.ACCEPTED


def _groups(marks: Sequence[Mark]) -> list[list[Mark]]:
    """Marks nearer than 12 units to the first of a group are of it."""
    groups: list[list[Mark]] = []
    for mark in marks:
        near = (g for g in groups if math.dist((g[0].x, g[0].y), (mark.x, mark.y)) < MERGE_DISTANCE)
        group = next(near, None)
        if group is None:
            groups.append([mark])
        else:
            group.append(mark)
    return groups


def _numbers(group: Sequence[Mark]) -> str:
    numbers = [str(mark.number) for mark in group]
    if len(group) <= MOST_NUMBERS:
        return ", ".join(numbers)
    return f"{', '.join(numbers[:FIRST_NUMBERS])} … {numbers[-1]} ({len(group)} rounds)"
