"""Which values of a knob are fast? One small chart a knob: the time of each variant by value."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from campaigns.charts.swept import Drawn, SweptPoint, dots, drawn_of, height, time_scale, time_ticks
from campaigns.rules.wording import digits
from knowledge.charts.frame import Cell, Frame, Segment, TableRow, TableTwin, full, number
from knowledge.charts.scale import Scale, Tick

FRAME = Frame(width=320, height=186, left=50, right=312, top=34, bottom=150)
FAILED_Y = 20.0
COLUMNS = ("Knob and value", "Tried", "Failed", "Best, µs", "Median, µs")
MOST_STRIPS = 8
LETTER = 6.6  # width of a letter of a tick, in SVG units, with some air
TICK_SPACING = 22.0
# How much of the width of a value its dots are spread over, and in which steps, the golden ratio's.
SPREAD, STEP = 0.6, 0.618034

Link = Callable[[str, str], str]
ByValue = Mapping[str, Sequence[SweptPoint]]


@dataclass(frozen=True, slots=True)
class StripValue:
    """One value of a knob. failed: how many variants with it have no time."""

    text: str
    x: float
    is_shown: bool
    failed: int
    best: Segment | None


@dataclass(frozen=True, slots=True)
class KnobStrip:
    """One knob's small chart. dots, early: paths of one dot a variant. source, best: where they
    lie; source_value, best_value: of the source as it is and of the fastest variant."""

    knob: str
    values: tuple[StripValue, ...]
    dots: str
    early: str
    source: tuple[float, float] | None
    best: tuple[float, float] | None
    source_value: str
    best_value: str


@dataclass(frozen=True, slots=True)
class StripsChart:
    """Geometry; `templates/campaigns/charts/sweep_strips.html` draws it.

    by_cost: whether the knob that matters most comes first. more_knobs: those of the table alone.
    """

    kind: ClassVar[str] = "strips"
    template: ClassVar[str] = "campaigns/charts/sweep_strips.html"
    title: ClassVar[str] = "Time by knob"
    frame: Frame
    y: Scale
    y_ticks: tuple[Tick, ...]
    strips: tuple[KnobStrip, ...]
    by_cost: bool
    more_knobs: int
    drawn: Drawn
    table: TableTwin
    failed_y: float = FAILED_Y


def build(
    points: Sequence[SweptPoint],
    knobs: Mapping[str, Sequence[str]],
    link: Link,
    *,
    by_cost: bool = True,
) -> StripsChart | None:
    """Lay it out; None without a time. knobs: name → values in words. link: to a value's rows.

    by_cost: the knob that matters most comes first; else in the order given, which stays while
    points still come.
    """
    y = time_scale(points, FRAME.bottom, FRAME.top)
    moved = {name: values for name, values in knobs.items() if len(values) > 1}
    if y is None or not moved:
        return None
    having = {name: _by_value(points, name, values) for name, values in moved.items()}
    order = sorted(moved, key=lambda name: -_cost(having[name])) if by_cost else [*moved]
    drawn = drawn_of(points, y)
    numbers = {point.number for point in drawn.points}
    return StripsChart(
        frame=FRAME,
        y=y,
        y_ticks=time_ticks(y, TICK_SPACING),
        strips=tuple(_strip(name, having[name], numbers, y) for name in order[:MOST_STRIPS]),
        by_cost=by_cost,
        more_knobs=max(0, len(order) - MOST_STRIPS),
        drawn=drawn,
        table=TableTwin(
            COLUMNS,
            tuple(
                _row(f"{name} {value}", mine, link(name, value))
                for name in order
                for value, mine in having[name].items()
            ),
        ),
    )


def _by_value(points: Sequence[SweptPoint], knob: str, values: Sequence[str]) -> ByValue:
    found: dict[str, list[SweptPoint]] = {value: [] for value in values}
    for point in points:
        if point.values.get(knob) in found:
            found[point.values[knob]].append(point)
    return found


def _cost(having: ByValue) -> float:
    """What the worst value of a knob costs, all others at their best: a ratio of times."""
    best = [least for mine in having.values() if (least := _least(mine))]
    return max(best) / min(best) if best else 0.0


def _least(points: Sequence[SweptPoint]) -> float | None:
    return min((p.ranked_us for p in points if p.ranked_us), default=None)


def _strip(knob: str, having: ByValue, drawn: Container[int], y: Scale) -> KnobStrip:
    slot = (FRAME.right - FRAME.left) / len(having)
    middle = {value: FRAME.left + (at + 0.5) * slot for at, value in enumerate(having)}

    def place(point: SweptPoint) -> tuple[float, float]:
        aside = ((point.number * STEP) % 1 - 0.5) * SPREAD * slot
        return round(middle[point.values[knob]] + aside, 1), height(y, point.time_us or y.high)

    timed = [p for mine in having.values() for p in mine if p.time_us]
    ranked = [p for p in timed if p.ranked_us]
    best = min(ranked, key=lambda p: (p.ranked_us, p.number), default=None)
    source = next((p for p in ranked if p.number == 1), None)
    texts = {value: _short(value, slot) for value in having}
    # A text fits beside its neighbours every so many values.
    every = max(1, math.ceil((max(map(len, texts.values())) + 1) * LETTER / slot))
    values = []
    for at, (value, mine) in enumerate(having.items()):
        least, x = _least(mine), middle[value]
        level = height(y, least) if least else 0.0
        bar = Segment(round(x - 0.38 * slot, 1), level, round(x + 0.38 * slot, 1), level)
        failed = sum(1 for p in mine if not p.time_us)
        shown = at % every == 0
        values.append(StripValue(texts[value], round(x, 1), shown, failed, bar if least else None))
    return KnobStrip(
        knob=knob,
        values=tuple(values),
        dots=dots(place(p) for p in ranked if p.number in drawn),
        early=dots(place(p) for p in timed if p.is_early and p.number in drawn),
        source=place(source) if source else None,
        best=place(best) if best else None,
        source_value=source.values[knob] if source else "",
        best_value=best.values[knob] if best else "",
    )


def _short(value: str, slot: float) -> str:
    """Keep as much of its end as fits, where values such as sets of flags differ."""
    most = max(4, int(slot / LETTER) - 1)
    return value if len(value) <= most else "…" + value[1 - most :]


def _row(name: str, mine: Sequence[SweptPoint], href: str) -> TableRow:
    times = [p.time_us for p in mine if p.time_us]
    counts = (number(len(mine), 0), number(len(mine) - len(times), 0))
    median = statistics.median(times) if times else None
    shown = (Cell(digits(t), full(t)) if t else Cell("–") for t in (_least(mine), median))
    return TableRow(name, href, (*counts, *shown))
