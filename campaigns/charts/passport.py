"""Noise: a kernel compared with itself, one row per kernel length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from campaigns.charts.deltas import Box
from campaigns.charts.marks import NoChart
from campaigns.rules.noise.passport import Length
from campaigns.rules.wording import digits
from knowledge.charts.frame import Cell, Frame, Segment, TableRow, TableTwin, full
from knowledge.charts.scale import Scale, ScaleKind, Tick, ticks_linear

WIDTH, LEFT, RIGHT, TOP, ROW, BELOW = 720, 92, 596, 26, 44, 62
BAND_HEIGHT = 26.0
COLUMNS = (
    *("Kernel", "Time, µs", "Spread, ±%", "Bias, %", "Low, %", "High, %", "Noise floor, %"),
    *("Intervals with zero", "Pairs"),
)


@dataclass(frozen=True, slots=True)
class LengthRow:
    """One kernel length. band: ±noise floor; rail: ±spread of single samples; whisker: the bias."""

    length: Length
    y: float
    band: Box
    rail: Segment
    whisker: Segment
    x: float


@dataclass(frozen=True, slots=True)
class PassportChart:
    """Geometry; `templates/campaigns/charts/passport.svg` draws it.

    covered: how many intervals of single sessions hold zero.
    """

    kind: ClassVar[str] = "passport"
    template: ClassVar[str] = "campaigns/charts/passport.svg"
    title: ClassVar[str] = "A kernel against itself"
    frame: Frame
    x: Scale
    x_ticks: tuple[Tick, ...]
    zero: float
    lines: tuple[LengthRow, ...]
    table: TableTwin
    covered: int
    sessions: int

    @property
    def all(self) -> int:
        return len(self.lines)

    drawn = all


def build(lengths: Sequence[Length]) -> PassportChart | NoChart:
    """Lay out the chart, in the order given. Lengths: see campaigns.rules.noise.passport."""
    if not lengths:
        sentence = "No kernel has been compared with itself here yet."
        return NoChart(PassportChart.kind, PassportChart.title, sentence)
    bottom = TOP + ROW * len(lengths)
    widest = max(max(n.floor, n.spread, abs(n.low), abs(n.high)) for n in lengths) * 1.08 * 100
    x = Scale(ScaleKind.LINEAR, -widest, widest, LEFT, RIGHT)
    return PassportChart(
        frame=Frame(WIDTH, bottom + BELOW, LEFT, RIGHT, TOP, bottom),
        x=x,
        x_ticks=ticks_linear(x, 8),
        zero=x.position(0),
        table=TableTwin(COLUMNS, tuple(map(_row, lengths))),
        lines=tuple(_line(length, TOP + ROW * (at + 0.5), x) for at, length in enumerate(lengths)),
        covered=sum(length.covered for length in lengths),
        sessions=sum(length.sessions for length in lengths),
    )


def _row(length: Length) -> TableRow:
    shares = (length.spread, length.gain, length.low, length.high, length.floor)
    return TableRow(
        length.kernel,
        "",
        (
            Cell(digits(length.time_us), full(length.time_us)),
            *(Cell(f"{100 * value:.2f}", full(100 * value)) for value in shares),
            Cell(f"{length.covered} of {length.sessions}"),
            Cell(str(length.pairs), str(length.pairs)),
        ),
    )


def _line(length: Length, y: float, x: Scale) -> LengthRow:
    shares = (length.spread, length.gain, length.low, length.high, length.floor)
    spread, gain, low, high, floor = (100 * value for value in shares)
    left, right = x.position(-floor), x.position(floor)
    return LengthRow(
        length=length,
        y=y,
        band=Box(left, y - BAND_HEIGHT / 2, round(right - left, 2), BAND_HEIGHT),
        rail=Segment(x.position(-spread), y, x.position(spread), y),
        whisker=Segment(x.position(low), y, x.position(high), y),
        x=x.position(gain),
    )
