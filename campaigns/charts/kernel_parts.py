"""Kernel time by part: where is it spent? One column of bars for each kernel, all on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from campaigns.charts.drawing import Bar, Drawing, Line, row_labels
from campaigns.charts.labels import NARROW, WIDE, Label
from campaigns.charts.marks import NoChart, Point, fewer
from campaigns.rules.wording import digits
from knowledge.charts.frame import Cell, Frame, TableRow, TableTwin, cut, full

WIDTH, LEFT, TOP, ROW, BELOW = 720, 104.0, 40, 32, 10
THICK, VALUE = 16.0, 88.0  # of a bar; and of the number behind it
MOST_ROUNDS, MOST_PARTS = 20, 4
# Every part that stands for itself besides a kernel by its name.
OTHERS = "everything else"


@dataclass(frozen=True, slots=True)
class PartsRound(Point):
    """One round on one case. parts: name → device time in µs per call."""

    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class PartsChart(Drawing):
    """most: the part that takes the most in the last accepted round, and its share of all parts."""

    kind: ClassVar[str] = "parts"
    title: ClassVar[str] = "Kernel time by part"
    case: str = ""
    last: int = 0
    most: str = ""
    most_share: float = 0.0


def build(rounds: Sequence[PartsRound], case: str) -> PartsChart | NoChart:
    """Lay out the chart. case: the one that it is about."""
    known = [one for one in rounds if one.parts]
    if not known:
        sentence = "No device time by kernel is recorded: this backend has no tracer that tells it."
        return NoChart(PartsChart.kind, PartsChart.title, sentence)
    drawn = fewer(known, MOST_ROUNDS)
    names = _largest(drawn)
    values = [_in_columns(one.parts, names) for one in drawn]
    step = (WIDTH - LEFT) / len(names)
    lefts = [round(LEFT + step * at, 2) for at in range(len(names))]
    most = max(max(row) for row in values) or 1.0
    scale = (step - VALUE) / most
    bottom = TOP + ROW * len(drawn)
    frame = Frame(WIDTH, bottom + BELOW, LEFT, WIDTH, TOP, bottom)
    bars, labels = [], _heads(names, lefts, step)
    for at, (one, row) in enumerate(zip(drawn, values, strict=True)):
        y = TOP + ROW * (at + 0.5)
        for name, left, value in zip(names, lefts, row, strict=True):
            width = round(value * scale, 2)
            title = f"round {one.number}, {name}: {digits(value)}, µs a call"
            bars.append(Bar(left, y - THICK / 2, max(width, 0.5), THICK, "part", title, one.href))
            labels.append(Label(left + width + 5, y + 4, digits(value), css="value"))
    middles = [TOP + ROW * (at + 0.5) for at in range(len(drawn))]
    last = next((one for one in reversed(known) if one.glyph.verdict == "accepted"), known[-1])
    name, time_us = max(last.parts.items(), key=lambda part: part[1])
    return PartsChart(
        frame=frame,
        table=TableTwin(("Round", *(f"{name}, µs" for name in names)), tuple(_rows(drawn, values))),
        drawn=len(drawn),
        all=len(known),
        lines=tuple(Line("rail", f"M{left:g} {TOP:g}V{bottom:g}") for left in lefts),
        bars=tuple(bars),
        labels=(*row_labels(zip(middles, (f"round {p.number}" for p in drawn), strict=True),
                            LEFT - 10), *labels),
        case=case,
        last=last.number,
        most=name,
        most_share=time_us / (sum(last.parts.values()) or 1.0),
    )  # fmt: skip


def _largest(rounds: Sequence[PartsRound]) -> list[str]:
    """The parts that take the most in any round, and one for all others."""
    most: dict[str, float] = {}
    for one in rounds:
        for name, time_us in one.parts.items():
            most[name] = max(most.get(name, 0.0), time_us)
    names = sorted(most, key=lambda name: -most[name])
    return names if len(names) <= MOST_PARTS else [*names[: MOST_PARTS - 1], OTHERS]


def _in_columns(parts: Mapping[str, float], names: Sequence[str]) -> list[float]:
    rest = sum(time_us for name, time_us in parts.items() if name not in names)
    return [parts.get(name, 0.0) + (rest if name == OTHERS else 0.0) for name in names]


def _heads(names: Sequence[str], lefts: Sequence[float], step: float) -> list[Label]:
    """Each name twice: as much of it as fits in small letters, and in large ones."""
    return [
        Label(left, TOP - 10, cut(name, _fitting(name, step, letters)), css=css)
        for name, left in zip(names, lefts, strict=True)
        for letters, css in ((WIDE, "tick wide"), (NARROW, "tick narrow"))
    ]


def _fitting(name: str, room: float, letters: object) -> int:
    """How many characters of a name fit."""
    size = WIDE if letters is WIDE else NARROW
    return next(
        most
        for most in range(len(name), 0, -1)
        if size.width(cut(name, most), "") < room - 6 or most == 1
    )


def _rows(drawn: Sequence[PartsRound], values: Sequence[Sequence[float]]) -> list[TableRow]:
    return [
        TableRow(f"round {one.number}", one.href, tuple(Cell(digits(v), full(v)) for v in row))
        for one, row in zip(drawn, values, strict=True)
    ]
