"""Waterfall: what moved it? The time that each accepted round saved, from v0 to the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from campaigns.charts.drawing import Axis, Bar, Drawing, Line, column_of, row_labels
from campaigns.charts.marks import NoChart
from campaigns.rules.noise.gain import Gain
from campaigns.rules.wording import digits, signed
from knowledge.charts.frame import Cell, Frame, TableRow, TableTwin, full
from knowledge.charts.scale import Scale, ScaleKind, ticks_linear

WIDTH, LEFT, RIGHT, TOP, ROW, BELOW = 720, 150, 586, 16, 32, 62
THICK = 18.0
MOST_STEPS = 24
COLUMNS = ("Round", "Before, µs", "After, µs", "Saved, µs", "Saved at least, µs", "at most, µs")


@dataclass(frozen=True, slots=True)
class Saving:
    """One accepted round: the time before and after it, and the gain that it was accepted with."""

    number: int
    href: str
    before_us: float
    after_us: float
    gain: Gain

    @property
    def saved_us(self) -> float:
        return self.before_us - self.after_us

    @property
    def ends_us(self) -> tuple[float, float]:
        """What it saved at the least and at the most, by the interval of its gain."""
        least, most = (1 - 1 / (1 + gain) for gain in (self.gain.low, self.gain.high))
        return self.before_us * least, self.before_us * most


@dataclass(frozen=True, slots=True)
class WaterfallChart(Drawing):
    """most: the round that saved the most; pairs, interval_kinds: of all their intervals."""

    kind: ClassVar[str] = "waterfall"
    title: ClassVar[str] = "What moved it"
    first_us: float = 0.0
    last_us: float = 0.0
    most: Saving | None = None
    pairs: tuple[int, int] = (0, 0)
    interval_kinds: tuple[str, ...] = ()

    @property
    def saved_us(self) -> float:
        return self.first_us - self.last_us

    @property
    def most_share(self) -> float:
        return self.most.saved_us / self.saved_us if self.most and self.saved_us else 0.0


def build(savings: Sequence[Saving]) -> WaterfallChart | NoChart:
    """Lay out the chart, in the order of the rounds."""
    if not savings:
        sentence = "No round has been accepted after the baseline, so nothing was saved yet."
        return NoChart(WaterfallChart.kind, WaterfallChart.title, sentence)
    # Of very many the oldest are one step.
    folded = savings[: max(0, len(savings) - MOST_STEPS + 1)] if len(savings) > MOST_STEPS else ()
    shown = savings[len(folded) :]
    rows = [("v0 (round 1)", 0.0, savings[0].before_us, "")]
    if folded:
        ends = folded[-1].after_us, folded[0].before_us
        rows.append((f"rounds {folded[0].number}–{folded[-1].number}", *ends, ""))
    rows += [(f"round {one.number}", one.after_us, one.before_us, one.href) for one in shown]
    last = savings[-1]
    rows.append(("the best", 0.0, last.after_us, last.href))
    bottom = TOP + ROW * len(rows)
    widest = max(max(one.before_us, one.before_us - one.ends_us[0]) for one in savings)
    x = Scale(ScaleKind.LINEAR, 0, widest * 1.02, LEFT, RIGHT)
    middles = [TOP + ROW * (at + 0.5) for at in range(len(rows))]
    pairs = [one.gain.pairs for one in savings]
    return WaterfallChart(
        frame=Frame(WIDTH, bottom + BELOW, LEFT, RIGHT, TOP, bottom),
        table=TableTwin(COLUMNS, tuple(map(_row, savings))),
        drawn=len(savings),
        all=len(savings),
        x=Axis("time per call, µs (lower is better)", ticks_linear(x, 6)),
        lines=_whiskers(shown, middles[-1 - len(shown) : -1], x),
        bars=tuple(_bar(row, y, x) for row, y in zip(rows, middles, strict=True)),
        labels=(
            *row_labels(zip(middles, (row[0] for row in rows), strict=True), LEFT - 10),
            *column_of(zip(middles, map(_value, rows), strict=True), WIDTH - 6),
        ),
        first_us=savings[0].before_us,
        last_us=last.after_us,
        most=max(savings, key=lambda one: one.saved_us),
        pairs=(min(pairs), max(pairs)),
        interval_kinds=tuple(sorted({one.gain.kind for one in savings})),
    )


def _bar(row: tuple[str, float, float, str], y: float, x: Scale) -> Bar:
    name, low, high, href = row
    # One that got slower by the time it was kept lies the other way round, and is drawn as a loss.
    left, right = sorted((x.position(low), x.position(high)))
    css = "whole" if low == 0 else "saved" if high >= low else "lost"
    title = f"{name}: {digits(high)}, µs"
    if low:
        title = f"{name}: {_value(row)} ({digits(high)} → {digits(low)}), µs"
    return Bar(left, y - THICK / 2, max(1.0, round(right - left, 2)), THICK, css, title, href)


def _whiskers(shown: Sequence[Saving], middles: Sequence[float], x: Scale) -> tuple[Line, ...]:
    found = []
    for one, y in zip(shown, middles, strict=True):
        ends = [x.position(max(0.0, one.before_us - saved)) for saved in one.ends_us]
        found.append(Line("whisker", f"M{min(ends):g} {y:g}H{max(ends):g}"))
    return tuple(found)


def _value(row: tuple[str, float, float, str]) -> str:
    _, low, high, _ = row
    return digits(high) if low == 0 else signed(low - high)


def _row(one: Saving) -> TableRow:
    values = (one.before_us, one.after_us, one.saved_us, *one.ends_us)
    return TableRow(
        f"round {one.number}",
        one.href,
        tuple(
            Cell(digits(value) if value >= 0 else signed(value), full(value)) for value in values
        ),
    )
