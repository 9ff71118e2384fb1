"""Deltas: was it real? Each round's change against its incumbent with interval and noise floor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from campaigns.charts.marks import Chart, Mark, NoChart, Point, Row, fewer
from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.decision import VerdictWord
from knowledge.charts.frame import Frame, Segment
from knowledge.charts.scale import Scale, ScaleKind, ticks_linear

WIDTH, LEFT, RIGHT, TOP, ROW, BELOW = 720, 74, 520, 32, 36, 62
# A change beyond this would squeeze all others together, so the axis is cut and says so.
CUT_FROM = 0.25
MOST_MARKS = 30
COLUMNS = ("Change, %", "Low, %", "High, %", "Noise floor, %", "Pairs")


@dataclass(frozen=True, slots=True)
class DeltaPoint(Point):
    """One round against the incumbent of its time, and the noise floor of its verdict."""

    gain: Gain
    noise: float


@dataclass(frozen=True, slots=True)
class Box:
    """A filled area."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class DeltaRow:
    """One line of the chart. whisker: the interval. beyond: -1 or 1 where it is off scale.

    band: as wide as the noise floor of this round.
    """

    mark: Mark
    band: Box
    whisker: Segment | None
    text: str
    beyond: int


@dataclass(frozen=True, slots=True)
class DeltaChart(Chart):
    """Geometry of the delta chart; `templates/campaigns/charts/deltas.svg` draws it.

    noise: the least and the most of any round's floor, below which nothing is accepted. cuts:
    where the x axis ends before its values do, and so carries a break mark. accepted: how many of
    all compared rounds. pairs: the least and the most of any interval; interval_kinds: what the
    intervals are.
    """

    kind: ClassVar[str] = "deltas"
    template: ClassVar[str] = "campaigns/charts/deltas.svg"
    title: ClassVar[str] = "Change per round"
    zero: float
    noise: tuple[float, float]
    lines: tuple[DeltaRow, ...]
    cuts: tuple[float, ...]
    accepted: int
    pairs: tuple[int, int]
    interval_kinds: tuple[str, ...]


def build(points: Sequence[DeltaPoint]) -> DeltaChart | NoChart:
    """Lay out the chart in the order given."""
    if not points:
        sentence = "No round has been compared with an incumbent yet."
        return NoChart(DeltaChart.kind, DeltaChart.title, sentence)
    drawn = fewer(points, MOST_MARKS)
    bottom = TOP + ROW * len(drawn)
    noise = min(p.noise for p in points), max(p.noise for p in points)
    least = 2 * noise[1]
    whole = _ends([point.gain for point in drawn], least)
    # Far changes are left out where there are near ones to see.
    near = [p.gain for p in drawn if max(abs(p.gain.low), abs(p.gain.high)) <= CUT_FROM]
    low, high = _ends(near, least) if near else whole
    room = (high - low) * 0.06
    x = Scale(ScaleKind.LINEAR, (low - room) * 100, (high + room) * 100, LEFT, RIGHT)
    pairs = [point.gain.pairs for point in points]
    return DeltaChart(
        columns=COLUMNS,
        frame=Frame(WIDTH, bottom + BELOW, LEFT, RIGHT, TOP, bottom),
        x=x,
        x_ticks=ticks_linear(x, 8),
        zero=x.position(0),
        noise=noise,
        lines=tuple(_line(point, TOP + ROW * (at + 0.5), x) for at, point in enumerate(drawn)),
        cuts=tuple(
            end for end, is_cut in ((LEFT, whole[0] < low), (RIGHT, whole[1] > high)) if is_cut
        ),
        accepted=sum(point.verdict is VerdictWord.ACCEPTED for point in points),
        pairs=(min(pairs), max(pairs)),
        interval_kinds=tuple(sorted({point.gain.kind for point in points})),
        rows=tuple(Row(point, _values(point)) for point in drawn),
        drawn=len(drawn),
        all=len(points),
    )


def _ends(gains: Sequence[Gain], least: float) -> tuple[float, float]:
    return min(-least, *(gain.low for gain in gains)), max(least, *(gain.high for gain in gains))


def _values(point: DeltaPoint) -> tuple[float, ...]:
    gain = point.gain
    return *(100 * value for value in (gain.gain, gain.low, gain.high, point.noise)), gain.pairs


def _line(point: DeltaPoint, y: float, x: Scale) -> DeltaRow:
    gain = point.gain
    percent = gain.gain * 100
    beyond = (percent > x.high) - (percent < x.low)
    at, low, high = (
        min(max(value * 100, x.low), x.high) for value in (gain.gain, gain.low, gain.high)
    )
    mark = point.mark((x.position(at), y), (percent, point.number), gain.brief)
    whisker = Segment(x.position(low), y, x.position(high), y) if high > low else None
    # The line itself shows the interval.
    left, right = x.position(-point.noise * 100), x.position(point.noise * 100)
    band = Box(left, y - ROW / 2, round(right - left, 2), ROW)
    return DeltaRow(mark, band, whisker, gain.words.partition(" [")[0], beyond)
