"""The marks that every chart is made of: frame, glyphs at places, labels, lines, table rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, TypeVar

from campaigns.rules.verdict.decision import VerdictWord
from knowledge.charts.frame import Frame, Segment, full
from knowledge.charts.scale import Scale, Tick

# A page with three charts stays readable, and quick to load, with so many rows in each table twin.
MOST_ROWS = 25
LINE_DISTANCE = 8
# Glyphs nearer than this to each other could not be told apart, nor hit.
CLEAR = 18


@dataclass(frozen=True, slots=True)
class Glyph:
    """A shape around the origin. outline is painted by its class, mark lies on top of it."""

    verdict: VerdictWord
    css: str
    outline: str
    mark: str = ""


_DISC = "M-6.5 0a6.5 6.5 0 1 0 13 0a6.5 6.5 0 1 0 -13 0Z"
_SHAPES = (
    Glyph(VerdictWord.ACCEPTED, "v-accepted", _DISC),
    Glyph(VerdictWord.NO_CHANGE, "v-nochange", _DISC),
    Glyph(VerdictWord.REJECTED, "v-rejected", "M-7 -6H7L0 6.5Z"),
    Glyph(VerdictWord.INVALID, "v-invalid", "M-5.5 -5.5L5.5 5.5M5.5 -5.5L-5.5 5.5"),
    Glyph(VerdictWord.NEEDS_REVIEW, "v-review", _DISC, "M0 -3.8V1M0 3.2V4"),
    Glyph(VerdictWord.NOT_JUDGED, "v-unjudged", "M-4.5 -4.5h9v9h-9z"),
    Glyph(VerdictWord.RUNNING, "v-running", _DISC),
)
GLYPHS: Mapping[VerdictWord, Glyph] = {glyph.verdict: glyph for glyph in _SHAPES}


@dataclass(frozen=True, slots=True)
class Mark:
    """One round's glyph. data_x, data_y: the axis values; "" where there is none."""

    number: int
    href: str
    glyph: Glyph
    x: float
    y: float
    data_x: str
    data_y: str
    title: str


@dataclass(frozen=True, slots=True)
class Point:
    """One round as a chart is given it; each chart adds what it measures."""

    number: int
    verdict: VerdictWord
    href: str

    @property
    def glyph(self) -> Glyph:
        return GLYPHS[self.verdict]

    def mark(
        self,
        at: tuple[float, float],
        data: tuple[float | None, float | None],
        note: str,
        glyph: Glyph | None = None,
    ) -> Mark:
        """The round's mark. at: its place; data: its axis values; note: what its title adds."""
        title = f"Round {self.number}: {self.verdict.words}, {note}"
        axis_values = full(data[0]), full(data[1])
        return Mark(self.number, self.href, glyph or self.glyph, *at, *axis_values, title)


PointT = TypeVar("PointT", bound=Point)
Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Dots:
    """Rounds that are too many for glyphs, in one path: the round ends of its strokes."""

    css: str
    path: str


@dataclass(frozen=True, slots=True)
class Row:
    """One round in a chart's table twin. values: of the chart's own columns; None for a dash."""

    point: Point
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """What every chart of rounds has beside its own geometry. rows: its table twin.

    columns: of the twin, after round and verdict. drawn: how many rounds have a mark, of all that
    could have one.
    """

    kind: ClassVar[str]
    template: ClassVar[str]
    columns: tuple[str, ...]
    frame: Frame
    x: Scale
    x_ticks: tuple[Tick, ...]
    rows: tuple[Row, ...]
    drawn: int
    all: int

    @property
    def is_long(self) -> bool:
        """Whether its table is left to the figure's own page."""
        return len(self.rows) > MOST_ROWS

    @property
    def shown_rows(self) -> tuple[Row, ...]:
        """Cut a long table twin to what a page takes; its file has every row."""
        kept = {point.number for point in fewer([row.point for row in self.rows], MOST_ROWS)}
        return tuple(row for row in self.rows if row.point.number in kept)


@dataclass(frozen=True, slots=True)
class NoChart:
    """The placeholder for a chart that cannot be drawn, with the reason."""

    kind: str
    title: str
    sentence: str


def fewer(points: Sequence[PointT], most: int) -> tuple[PointT, ...]:
    """At most so many in order: every accepted one, the newest, and an even share of the rest."""
    if len(points) <= most:
        return tuple(points)
    kept = {i for i, p in enumerate(points) if p.verdict is VerdictWord.ACCEPTED}
    kept.add(len(points) - 1)
    rest = [index for index in range(len(points)) if index not in kept]
    room = max(0, most - len(kept))
    kept |= {rest[step * len(rest) // room] for step in range(room)}
    return tuple(points[index] for index in sorted(kept))


def thinned(
    points: Sequence[PointT], place: Callable[[PointT], Place], most: int
) -> tuple[tuple[PointT, ...], tuple[Dots, ...]]:
    """The points that get a glyph, and dots for the others; of no more than `most` all get one.

    Of more, those of `fewer` that stand clear of each other: the newest, then what was accepted.
    """
    if len(points) <= most:
        return tuple(points), ()
    places = {point.number: place(point) for point in points}
    kept: dict[int, Place] = {}
    last = points[-1].number
    order = [
        (p.number == last, p.verdict is VerdictWord.ACCEPTED, p.number) for p in fewer(points, most)
    ]
    for *_, number in sorted(order, reverse=True):
        at = places[number]
        if all(math.dist(at, other) >= CLEAR for other in kept.values()):
            kept[number] = at
    paths = {"dots early": "", "dots": ""}
    for point in points:
        if point.number not in kept:
            x, y = places[point.number]
            css = "dots" if point.verdict is VerdictWord.ACCEPTED else "dots early"
            paths[css] += f"M{x:.1f} {y:.1f}h0"
    dots = tuple(Dots(css, path) for css, path in paths.items() if path)
    return tuple(point for point in points if point.number in kept), dots


def arrows(marks: Sequence[Mark], gap: float = 9) -> tuple[Segment, ...]:
    """Join marks in order, clear of their glyphs; steps too short to see are left out."""
    found = []
    for old, new in pairwise(marks):
        length = math.dist((old.x, old.y), (new.x, new.y))
        if length > 2 * gap + 4:
            dx, dy = (new.x - old.x) / length * gap, (new.y - old.y) / length * gap
            ends = (old.x + dx, old.y + dy, new.x - dx, new.y - dy)
            found.append(Segment(*(round(end, 2) for end in ends)))
    return tuple(found)
