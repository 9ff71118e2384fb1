"""How fast did a search find it? Every variant in order, and the best time so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from campaigns.charts.marks import Glyph, Label, Mark, merge_labels, thinned
from campaigns.charts.progress import ReferenceLine
from campaigns.charts.swept import (
    SweptPoint,
    axis_words,
    dots,
    drawn_words,
    height,
    shown_points,
    time_scale,
    time_ticks,
)
from campaigns.rules.wording import digits, duration, faster
from knowledge.charts.frame import Cell, Frame, TableRow, TableTwin, full
from knowledge.charts.scale import Scale, ScaleKind, Tick, ticks_linear

TITLE = "Best so far"
# Narrower than other charts, so that its letters stay readable on a phone.
FRAME = Frame(width=520, height=300, left=64, right=508, top=62, bottom=250)
FAILED_Y = FRAME.top - 22
COLUMNS = ("Variant", "Time, µs", "Against the source as it is")
FEWEST = 10
TICK_SPACING = 24.0


@dataclass(frozen=True, slots=True)
class Finalist:
    """A point that goes to trial. glyph: of the verdict that is about it, or of one to come."""

    number: int
    href: str
    glyph: Glyph
    told: str


@dataclass(frozen=True, slots=True)
class CourseChart:
    """Geometry; `templates/campaigns/charts/sweep_course.html` draws it."""

    kind: str
    title: str
    frame: Frame
    x: Scale
    y: Scale
    y_title: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    dots: str
    early: str
    failed: str
    failed_y: float
    best: str
    source: ReferenceLine | None
    marks: tuple[Mark, ...]
    labels: tuple[Label, ...]
    caption: str
    table: TableTwin


def build(
    points: Sequence[SweptPoint], finalists: Sequence[Finalist], link: Callable[[int], str]
) -> CourseChart | None:
    """Lay it out; None without a time. link: number → the row of a point."""
    y = time_scale(points, FRAME.bottom, FRAME.top)
    if y is None:
        return None
    last = max(FEWEST, *(p.number for p in points))
    x = Scale(ScaleKind.LINEAR, 0, last * 1.02, FRAME.left, FRAME.right)
    shown = shown_points(points)
    timed = [(p, (x.position(p.number), height(y, p.time_us))) for p in shown if p.time_us]
    source = next((p.ranked_us for p in points if p.number == 1), None)
    firsts = list(_firsts(points))
    marks = tuple(_marks(finalists, {p.number: p for p in points}, x, y))
    return CourseChart(
        kind="course",
        title=TITLE,
        frame=FRAME,
        x=x,
        y=y,
        y_title=f"time in the screen, {axis_words(y)}",
        x_ticks=tuple(tick for tick in ticks_linear(x, 6) if tick.value == int(tick.value)),
        y_ticks=time_ticks(y, TICK_SPACING),
        dots=dots(place for p, place in timed if not p.is_early),
        early=dots(place for p, place in timed if p.is_early),
        failed="".join(_tick(x.position(p.number)) for p in shown if not p.time_us),
        failed_y=FAILED_Y,
        best=_steps(firsts, x, y),
        source=_reference(source, y) if source else None,
        marks=marks,
        labels=thinned(merge_labels(marks, 0, -13)),
        caption=_caption(firsts, source) + drawn_words(points, y),
        table=TableTwin(
            COLUMNS, tuple(_row(number, time_us, source, link) for number, time_us in firsts[::-1])
        ),
    )


def _firsts(points: Sequence[SweptPoint]) -> Iterator[tuple[int, float]]:
    """Each point that was faster than all before it, in order."""
    best = float("inf")
    for point in points:
        if point.ranked_us and point.ranked_us < best:
            best = point.ranked_us
            yield point.number, best


def _tick(x: float) -> str:
    return f"M{x:g} {FAILED_Y - 4:g}v8"


def _steps(firsts: Sequence[tuple[int, float]], x: Scale, y: Scale) -> str:
    path: list[str] = []
    for number, time_us in firsts:
        across, level = x.position(number), height(y, time_us)
        path.append(f"H{across:g}V{level:g}" if path else f"M{across:g} {level:g}")
    return "".join([*path, f"H{FRAME.right:g}"]) if path else ""


def _reference(source_us: float, y: Scale) -> ReferenceLine:
    level = height(y, source_us)
    text_y = level - 6 if level - 18 > FRAME.top else level + 15
    return ReferenceLine(level, f"the source as it is, {duration(source_us)}", text_y)


def _marks(
    finalists: Sequence[Finalist], points: Mapping[int, SweptPoint], x: Scale, y: Scale
) -> Iterator[Mark]:
    for one in finalists:
        time_us = points[one.number].time_us
        if time_us:
            place = x.position(one.number), height(y, time_us)
            data = str(one.number), full(time_us)
            told = f"Variant {one.number}, {duration(time_us)} in the screen: {one.told}"
            yield Mark(one.number, one.href, one.glyph, *place, *data, told)


def _caption(firsts: Sequence[tuple[int, float]], source: float | None) -> str:
    if not firsts:
        return "No variant was timed to the end."
    number, best = firsts[-1]
    if number == 1:
        return f"No variant is faster than the source as it is, {duration(best)}."
    told = f"Variant {number} is the fastest, {duration(best)}"
    against = f"; the source as it is takes {duration(source)}" if source else ""
    return f"{told}{against}, both in the screen." if source else f"{told} in the screen."


def _row(
    number: int, time_us: float, source_us: float | None, link: Callable[[int], str]
) -> TableRow:
    against = faster(source_us / time_us - 1) if source_us and number > 1 else "–"
    return TableRow(
        str(number), link(number), (Cell(digits(time_us), full(time_us)), Cell(against))
    )
