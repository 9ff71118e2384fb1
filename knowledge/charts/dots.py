"""PURE: how do the effects of one context spread? A dot an attempt, stacked where they are near."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knowledge.charts.frame import Frame, TableRow, TableTwin, full, number
from knowledge.charts.scale import Scale, ScaleKind, ticks_linear

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


def build(points: Sequence[DotPoint]) -> dict[str, Any] | None:
    """The geometry of the newest attempts given; None without any.

    `templates/knowledge/charts/dots.svg` draws it. Lengths are in SVG units.
    """
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
        dots.append({"point": point, "x": place * STEP, "y": y, "data_x": full(point.gain * 100)})
    rows = tuple(TableRow(p.name, p.href, (number(p.gain * 100),)) for p in points)
    return {
        "kind": "dots",
        "frame": Frame(WIDTH, bottom + BELOW, LEFT, RIGHT, TOP, bottom),
        "x": x,
        "x_ticks": ticks_linear(x, 7),
        "zero": x.position(0),
        "dots": dots,
        "faster": sum(gain > 0 for gain in gains),
        "table": TableTwin(COLUMNS, rows),
    }
