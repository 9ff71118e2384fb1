"""Noise: a kernel compared with itself, one row per kernel length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.charts.deltas import Box
from campaigns.charts.marks import NoChart
from campaigns.rules.noise.passport import Length
from campaigns.rules.wording import change, digits, duration, share
from knowledge.charts.frame import Cell, Frame, Segment, full
from knowledge.charts.scale import Scale, ScaleKind, Tick, ticks_linear

TITLE = "A kernel against itself"
COLUMNS = (
    "Kernel",
    "Time, µs",
    "Spread, ±%",
    "Bias, %",
    "Low, %",
    "High, %",
    "Noise floor, %",
    "Intervals with zero",
    "Pairs",
)
WIDTH, LEFT, RIGHT, TOP, ROW, BELOW = 720, 92, 596, 26, 44, 62
BAND_HEIGHT = 26.0


@dataclass(frozen=True, slots=True)
class LengthRow:
    """One kernel length. band: ±noise floor; rail: ±spread of single samples; whisker: the bias."""

    y: float
    label: str
    text: str
    title: str
    band: Box
    rail: Segment
    whisker: Segment
    x: float


@dataclass(frozen=True, slots=True)
class PassportChart:
    """Geometry; `templates/campaigns/charts/passport.svg` draws it. table: its twin, row by row."""

    kind: str
    title: str
    sentence: str
    frame: Frame
    x: Scale
    x_ticks: tuple[Tick, ...]
    zero: float
    lines: tuple[LengthRow, ...]
    caption: str
    columns: tuple[str, ...]
    table: tuple[tuple[Cell, ...], ...]


def build(lengths: Sequence[Length]) -> PassportChart | NoChart:
    """Lay out the chart, in the order given. Lengths: see campaigns.rules.noise.passport."""
    if not lengths:
        return NoChart("passport", TITLE, "No kernel has been compared with itself here yet.")
    bottom = TOP + ROW * len(lengths)
    frame = Frame(WIDTH, bottom + BELOW, LEFT, RIGHT, TOP, bottom)
    widest = max(max(n.floor, n.spread, abs(n.low), abs(n.high)) for n in lengths) * 1.08 * 100
    x = Scale(ScaleKind.LINEAR, -widest, widest, LEFT, RIGHT)
    return PassportChart(
        kind="passport",
        title=TITLE,
        sentence="",
        frame=frame,
        x=x,
        x_ticks=ticks_linear(x, 8),
        zero=x.position(0),
        lines=tuple(_line(length, index, x) for index, length in enumerate(lengths)),
        caption=_caption(lengths),
        columns=COLUMNS,
        table=tuple(_cells(length) for length in lengths),
    )


def _line(length: Length, index: int, x: Scale) -> LengthRow:
    y = TOP + ROW * (index + 0.5)

    def at(fraction: float) -> float:
        return x.position(fraction * 100)

    left, right = at(-length.floor), at(length.floor)
    return LengthRow(
        y=y,
        label=duration(length.time_us),
        text=f"±{share(length.floor)}",
        title=(
            f"{length.kernel}, {duration(length.time_us)}: bias {change(length.gain)} "
            f"({change(length.low)} to {change(length.high)}, n={length.pairs} pairs), single "
            f"samples ±{share(length.spread)}, noise floor {share(length.floor)}"
        ),
        band=Box(left, y - BAND_HEIGHT / 2, round(right - left, 2), BAND_HEIGHT),
        rail=Segment(at(-length.spread), y, at(length.spread), y),
        whisker=Segment(at(length.low), y, at(length.high), y),
        x=at(length.gain),
    )


def _caption(lengths: Sequence[Length]) -> str:
    covered, sessions = (sum(getattr(n, name) for n in lengths) for name in ("covered", "sessions"))
    return (
        f"{covered} of {sessions} intervals of single sessions hold zero, where 95 % should. "
        "Dot and thick line: the bias over all sessions with its 95 % interval. Thin line: where "
        "four of five single samples lie. Band: the noise floor, the least detectable gain."
    )


def _cells(length: Length) -> tuple[Cell, ...]:
    percents = (length.spread, length.gain, length.low, length.high, length.floor)
    return (
        Cell(length.kernel),
        Cell(digits(length.time_us), full(length.time_us)),
        *(Cell(f"{100 * value:.2f}", full(100 * value)) for value in percents),
        Cell(f"{length.covered} of {length.sessions}"),
        Cell(str(length.pairs)),
    )
