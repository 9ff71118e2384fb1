"""PURE: how do the effects of one context spread? A dot an attempt, stacked where they are near."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.charts.frame import Frame, TableRow, TableTwin, full, number
from knowledge.charts.scale import Scale, ScaleKind, Tick, ticks_linear

COLUMNS = ("Attempt", "Effect, %")
WIDTH, LEFT, RIGHT, TOP, BELOW = 720, 12, 708, 14, 46
STEP = 11  # of a dot, in SVG units
HIGHEST = 6  # dots in a stack; more lie on its top
LEAST = 0.02
MOST_DOTS = 200


@dataclass(frozen=True, slots=True)
class DotPoint:
    """One attempt with a measured gain, a fraction."""

    name: str
    href: str
    gain: float
    words: str


@dataclass(frozen=True, slots=True)
class StackedDot:
    """The place of an attempt."""

    point: DotPoint
    x: float
    y: float
    data_x: str


@dataclass(frozen=True, slots=True)
class DotChart:
    """Geometry; `templates/knowledge/charts/dots.svg` draws it."""

    kind: str
    title: str
    frame: Frame
    x: Scale
    x_ticks: tuple[Tick, ...]
    zero: float
    dots: tuple[StackedDot, ...]
    caption: str
    table: TableTwin


def build(points: Sequence[DotPoint], title: str) -> DotChart | None:
    """Lay out the newest attempts given; None without any."""
    if not points:
        return None
    gains = [point.gain for point in points]
    low, high = min(-LEAST, *gains), max(LEAST, *gains)
    room = (high - low) * 0.04
    x = Scale(ScaleKind.LINEAR, (low - room) * 100, (high + room) * 100, LEFT, RIGHT)
    places = [round(x.position(gain * 100) / STEP) for gain in gains]
    bottom = TOP + STEP * min(HIGHEST, max(Counter(places).values()))
    above: Counter[int] = Counter()
    dots = []
    for point, place in zip(points, places, strict=True):
        level = min(above[place], HIGHEST - 1)
        above[place] += 1
        y = bottom - STEP * (level + 0.5)
        dots.append(StackedDot(point, place * STEP, y, full(point.gain * 100)))
    faster = sum(gain > 0 for gain in gains)
    return DotChart(
        kind="dots",
        title=title,
        frame=Frame(WIDTH, bottom + BELOW, LEFT, RIGHT, TOP, bottom),
        x=x,
        x_ticks=ticks_linear(x, 7),
        zero=x.position(0),
        dots=tuple(dots),
        caption=f"{faster} of {len(gains)} measured attempts lie right of zero, which is faster.",
        table=TableTwin(
            COLUMNS, tuple(TableRow(p.name, p.href, (number(p.gain * 100),)) for p in points)
        ),
    )
