"""How fast did a search find it? Every variant in order, and the best time so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from campaigns.charts.labels import Label, Placer
from campaigns.charts.marks import Glyph, Mark
from campaigns.charts.progress import TITLE_END, ReferenceLine, level
from campaigns.charts.swept import Drawn, SweptPoint, dots, drawn_of, height, time_scale, time_ticks
from campaigns.rules.wording import digits, duration, faster
from knowledge.charts.frame import Cell, Frame, TableRow, TableTwin, full
from knowledge.charts.scale import Scale, ScaleKind, Tick, ticks_linear

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
    """Geometry; `templates/campaigns/charts/sweep_course.html` draws it.

    fastest: number and time of the fastest variant that was timed to its end. source_us: the time
    of the source as it is.
    """

    kind: ClassVar[str] = "course"
    template: ClassVar[str] = "campaigns/charts/sweep_course.html"
    title: ClassVar[str] = "Best so far"
    frame: Frame
    x: Scale
    y: Scale
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    dots: str
    early: str
    failed: str
    best: str
    fastest: tuple[int, float] | None
    source_us: float | None
    source: ReferenceLine | None
    marks: tuple[Mark, ...]
    labels: tuple[Label, ...]
    drawn: Drawn
    table: TableTwin
    failed_y: float = FAILED_Y


def build(
    points: Sequence[SweptPoint], finalists: Sequence[Finalist], link: Callable[[int], str]
) -> CourseChart | None:
    """Lay it out; None without a time. link: number → the row of a point."""
    y = time_scale(points, FRAME.bottom, FRAME.top)
    if y is None:
        return None
    last = max(FEWEST, *(p.number for p in points))
    x = Scale(ScaleKind.LINEAR, 0, last * 1.02, FRAME.left, FRAME.right)
    drawn = drawn_of(points, y)
    timed = [(p, (x.position(p.number), height(y, p.time_us))) for p in drawn.points if p.time_us]
    failed = [x.position(p.number) for p in drawn.points if not p.time_us]
    source_us = next((p.ranked_us for p in points if p.number == 1), None)
    firsts = _firsts(points)
    marks = _marks(finalists, {p.number: p.time_us for p in points}, x, y)
    placer = Placer(FRAME, marks, TITLE_END)
    labels = placer.numbers(marks, above=True)
    text = f"the source as it is, {duration(source_us)}" if source_us else ""
    source = level(height(y, source_us), text, placer, at_end=True) if source_us else None
    return CourseChart(
        frame=FRAME,
        x=x,
        y=y,
        x_ticks=tuple(tick for tick in ticks_linear(x, 6) if tick.value == int(tick.value)),
        y_ticks=time_ticks(y, TICK_SPACING),
        dots=dots(place for p, place in timed if not p.is_early),
        early=dots(place for p, place in timed if p.is_early),
        failed="".join(f"M{at:g} {FAILED_Y - 4:g}v8" for at in failed),
        best=_steps(firsts, x, y),
        fastest=firsts[-1] if firsts else None,
        source_us=source_us,
        source=source,
        marks=marks,
        labels=labels,
        drawn=drawn,
        table=TableTwin(COLUMNS, tuple(_row(*each, source_us, link) for each in firsts[::-1])),
    )


def _firsts(points: Sequence[SweptPoint]) -> list[tuple[int, float]]:
    """Each point that was faster than all before it, in order."""
    found: list[tuple[int, float]] = []
    for point in points:
        if point.ranked_us and (not found or point.ranked_us < found[-1][1]):
            found.append((point.number, point.ranked_us))
    return found


def _steps(firsts: Sequence[tuple[int, float]], x: Scale, y: Scale) -> str:
    if not firsts:
        return ""
    (start, level), *rest = [(x.position(n), height(y, time_us)) for n, time_us in firsts]
    steps = "".join(f"H{across:g}V{lower:g}" for across, lower in rest)
    return f"M{start:g} {level:g}{steps}H{FRAME.right:g}"


def _marks(
    finalists: Sequence[Finalist], times: dict[int, float | None], x: Scale, y: Scale
) -> tuple[Mark, ...]:
    found = []
    for one in finalists:
        if time_us := times[one.number]:
            place = x.position(one.number), height(y, time_us)
            title = f"Variant {one.number}, {duration(time_us)} in the screen: {one.told}"
            data = str(one.number), full(time_us)
            found.append(Mark(one.number, one.href, one.glyph, *place, *data, title))
    return tuple(found)


def _row(
    number: int, time_us: float, source_us: float | None, link: Callable[[int], str]
) -> TableRow:
    against = faster(source_us / time_us - 1) if source_us and number > 1 else "–"
    return TableRow(
        str(number), link(number), (Cell(digits(time_us), full(time_us)), Cell(against))
    )
