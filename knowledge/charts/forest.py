"""PURE: what helps? One line a strategy: the median of its effects with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knowledge.charts.frame import Frame, TableRow, TableTwin, cut, full, number
from knowledge.charts.scale import Scale, ScaleKind, ticks_linear
from knowledge.experience.wording import GainSpread

COLUMNS = ("Strategy", "Median, %", "Low, %", "High, %", "n", "Worked", "Tried")
WIDTH, LEFT, RIGHT, TOP, ROW, BELOW = 720, 176, 560, 30, 32, 52
WIDE, NARROW = 26, 15  # characters of a label, on a screen and on a phone
LEAST = 0.02  # of the axis on both sides of zero
# An effect beyond these would squeeze all others together, so the axis is cut there and says so.
CUT_LOW, CUT_HIGH = -0.5, 1.0


@dataclass(frozen=True, slots=True)
class ForestPoint:
    """One strategy. n: measured gains; median, low, high: fractions, None where there is none."""

    name: str
    href: str
    tried: int
    worked: int
    gain: GainSpread


def build(points: Sequence[ForestPoint]) -> dict[str, Any] | None:
    """The geometry of the strategies, the largest median first; None without any.

    `templates/knowledge/charts/forest.svg` draws it. Lengths are in SVG units; cuts: ends of the
    axis with a break mark. A line without a measured effect has neither x nor whisker; beyond is
    -1 or 1 where its x is off the scale.
    """
    if not points:
        return None
    ranked = sorted(points, key=lambda p: (p.gain.median is None, -(p.gain.median or 0), p.name))
    bottom = TOP + ROW * len(ranked)
    ends = [end for p in ranked for end in _ends(p.gain) if end is not None]
    whole = min([-LEAST, *ends]), max([LEAST, *ends])
    low, high = max(whole[0], CUT_LOW), min(whole[1], CUT_HIGH)
    room = (high - low) * 0.05
    x = Scale(ScaleKind.LINEAR, (low - room) * 100, (high + room) * 100, LEFT, RIGHT)
    clear = [point for point in ranked if (point.gain.low or 0) > 0]
    rows = []
    for point in ranked:
        effects = [None if value is None else value * 100 for value in _ends(point.gain)]
        counts = [number(n, 0) for n in (point.gain.n, point.worked, point.tried)]
        cells = (*map(number, effects), *counts)
        rows.append(TableRow(point.name, point.href, cells))
    return {
        "kind": "forest",
        "frame": Frame(WIDTH, bottom + BELOW, LEFT, RIGHT, TOP, bottom),
        "x": x,
        "x_ticks": ticks_linear(x, 7),
        "zero": x.position(0),
        "cuts": [LEFT] * (low > whole[0]) + [RIGHT] * (high < whole[1]),
        "lines": [_line(point, index, x) for index, point in enumerate(ranked)],
        "best": max(clear, key=lambda p: p.gain.median or 0, default=None),
        "clear": len(clear),
        "tried": sum(point.tried for point in ranked),
        "table": TableTwin(COLUMNS, tuple(rows)),
    }


def _ends(gain: GainSpread) -> tuple[float | None, ...]:
    return gain.median, gain.low, gain.high


def _line(point: ForestPoint, index: int, x: Scale) -> dict[str, Any]:
    places = []
    for fraction in _ends(point.gain):
        held = None if fraction is None else min(max(fraction * 100, x.low), x.high)
        places.append(None if held is None else x.position(held))
    at = None if point.gain.median is None else point.gain.median * 100
    return {
        "point": point,
        "label": cut(point.name, WIDE),
        "short": cut(point.name, NARROW),
        "y": TOP + ROW * (index + 0.5),
        "x": places[0],
        "data_x": full(at),
        "whisker": None if None in places[1:] else places[1:],
        "beyond": 0 if at is None else (at > x.high) - (at < x.low),
    }
