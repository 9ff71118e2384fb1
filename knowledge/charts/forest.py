"""PURE: what helps? One line a strategy: the median of its effects with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.charts.frame import Frame, Segment, TableRow, TableTwin, cut, full, number
from knowledge.charts.scale import Scale, ScaleKind, Tick, ticks_linear
from knowledge.experience.wording import GainSpread

COLUMNS = ("Strategy", "Median, %", "Low, %", "High, %", "n", "Worked", "Tried")
WIDTH, LEFT, RIGHT, TOP, ROW, BELOW = 720, 176, 560, 30, 32, 52
WIDE, NARROW = 26, 15  # characters of a label, on a screen and on a phone
LEAST = 0.02  # of the axis on both sides of zero
# An effect beyond these would squeeze all others together, so the axis is cut there and says so.
CUT_LOW, CUT_HIGH = -0.5, 1.0
HOW = "95 % of the median by order statistics; under six attempts their whole range"


@dataclass(frozen=True, slots=True)
class ForestPoint:
    """One strategy. n: measured gains; median, low, high: fractions, None where there is none."""

    name: str
    href: str
    tried: int
    worked: int
    gain: GainSpread


@dataclass(frozen=True, slots=True)
class ForestLine:
    """One line. x, whisker: None where nothing was measured; beyond: -1 or 1 if x is off scale."""

    point: ForestPoint
    label: str
    short: str
    y: float
    x: float | None
    data_x: str
    whisker: Segment | None
    beyond: int


@dataclass(frozen=True, slots=True)
class ForestChart:
    """Geometry; `templates/knowledge/charts/forest.svg` draws it. cuts: ends with a break mark."""

    kind: str
    title: str
    frame: Frame
    x: Scale
    x_title: str
    x_ticks: tuple[Tick, ...]
    zero: float
    cuts: tuple[float, ...]
    lines: tuple[ForestLine, ...]
    caption: str
    table: TableTwin


def build(points: Sequence[ForestPoint], title: str) -> ForestChart | None:
    """Lay out the strategies, the largest median first; None without any."""
    if not points:
        return None
    ranked = sorted(points, key=lambda p: (p.gain.median is None, -(p.gain.median or 0), p.name))
    bottom = TOP + ROW * len(ranked)
    ends = [end for p in ranked for end in _ends(p.gain) if end is not None]
    whole = min([-LEAST, *ends]), max([LEAST, *ends])
    low, high = max(whole[0], CUT_LOW), min(whole[1], CUT_HIGH)
    room = (high - low) * 0.05
    x = Scale(ScaleKind.LINEAR, (low - room) * 100, (high + room) * 100, LEFT, RIGHT)
    cuts = [end for end, is_cut in ((LEFT, low > whole[0]), (RIGHT, high < whole[1])) if is_cut]
    return ForestChart(
        kind="forest",
        title=title,
        frame=Frame(WIDTH, bottom + BELOW, LEFT, RIGHT, TOP, bottom),
        x=x,
        x_title="median effect, % (right is faster)" + (", axis cut" if cuts else ""),
        x_ticks=ticks_linear(x, 7),
        zero=x.position(0),
        cuts=tuple(cuts),
        lines=tuple(_line(point, index, x) for index, point in enumerate(ranked)),
        caption=_caption(ranked),
        table=TableTwin(COLUMNS, tuple(map(_row, ranked))),
    )


def _ends(gain: GainSpread) -> tuple[float | None, ...]:
    return gain.median, gain.low, gain.high


def _line(point: ForestPoint, index: int, x: Scale) -> ForestLine:
    y = TOP + ROW * (index + 0.5)
    low, high = point.gain.low, point.gain.high
    whisker = None
    if low is not None and high is not None:
        whisker = Segment(_within(low, x), y, _within(high, x), y)
    at = None if point.gain.median is None else point.gain.median * 100
    return ForestLine(
        point=point,
        label=cut(point.name, WIDE),
        short=cut(point.name, NARROW),
        y=y,
        x=None if point.gain.median is None else _within(point.gain.median, x),
        data_x=full(at),
        whisker=whisker,
        beyond=0 if at is None else (at > x.high) - (at < x.low),
    )


def _within(fraction: float, x: Scale) -> float:
    return x.position(min(max(fraction * 100, x.low), x.high))


def _caption(ranked: Sequence[ForestPoint]) -> str:
    clear = [p for p in ranked if (p.gain.low or 0) > 0]
    best = max(clear, key=lambda p: p.gain.median or 0, default=None)
    tried = sum(point.tried for point in ranked)
    if best is None:
        told = f"None of {len(ranked)} strategies has an effect clear of zero yet."
    else:
        told = f"{best.name} helps most: {best.gain.words}, n={best.gain.n}. "
        told += f"{len(clear)} of {len(ranked)} strategies help with an interval clear of zero."
    return f"{told} {tried:,} attempts. Interval: {HOW}."


def _row(point: ForestPoint) -> TableRow:
    effects = [None if v is None else v * 100 for v in _ends(point.gain)]
    counts = (point.gain.n, point.worked, point.tried)
    cells = [*(number(value) for value in effects), *(number(count, 0) for count in counts)]
    return TableRow(point.name, point.href, tuple(cells))
