"""Trend: does a problem still get faster? The best of each campaign over time, by platform."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from campaigns.charts.drawing import Drawing, Line, Spot, steps
from campaigns.charts.labels import Label, Placer
from campaigns.charts.marks import GLYPHS, Mark, NoChart
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.rules.wording import digits, duration, share
from knowledge.charts.frame import Cell, Frame, TableRow, TableTwin, cut, full
from knowledge.charts.scale import Scale, ScaleKind, Tick, ticks_linear

WIDTH, BAND, HEAD = 720, 224, 64
LEFT, RIGHT, TIME_END, SHARE_FROM = 78.0, 700.0, 352.0, 434.0
MOST_GROUPS, NAME = 5, 44
COLUMNS = ("Campaign", "Finished", "Platform, backend, cases", "Best, µs", "Share, %", "of")
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One finished campaign and its best. share: of `limit`, as a fraction; None if unknown."""

    campaign: int
    href: str
    at: datetime
    time_us: float
    share: float | None
    limit: str = ""


@dataclass(frozen=True, slots=True)
class TrendGroup:
    """Campaigns whose times can be compared: of one platform, backend and set of cases."""

    name: str
    points: tuple[TrendPoint, ...]

    @property
    def best(self) -> TrendPoint:
        return min(self.points, key=lambda point: point.time_us)


@dataclass(frozen=True, slots=True)
class TrendChart(Drawing):
    """groups: the ones drawn, those with the most campaigns first; more: how many are not."""

    kind: ClassVar[str] = "trend"
    title: ClassVar[str] = "Best of each campaign"
    groups: tuple[TrendGroup, ...] = ()
    more: int = 0


def build(groups: Sequence[TrendGroup]) -> TrendChart | NoChart:
    """Lay out two small charts a group: best time and share of its limit, over one axis."""
    if not groups:
        sentence = (
            "No campaign of this problem has compared its best with v0 in a final session yet."
        )
        return NoChart(TrendChart.kind, TrendChart.title, sentence)
    shown = sorted(groups, key=lambda group: -len(group.points))[:MOST_GROUPS]
    moments = [point.at for group in shown for point in group.points]
    first, span = min(moments), max(max(moments) - min(moments), timedelta(minutes=1))
    lines: list[Line] = []
    spots: list[Spot] = []
    labels: list[Label] = []
    for at, group in enumerate(shown):
        top = BAND * at + HEAD
        labels.append(Label(4, top - 44, cut(group.name, NAME), css="tick head"))
        for panel in (_times(group, top), _shares(group, top)):
            drawn = panel.draw(group, first, span)
            lines += drawn[0]
            spots += drawn[1]
            labels += drawn[2]
    points = [(group.name, point) for group in groups for point in group.points]
    return TrendChart(
        frame=Frame(WIDTH, BAND * len(shown) + 8, LEFT, RIGHT, HEAD, BAND * len(shown) - 30),
        table=TableTwin(COLUMNS, tuple(_row(*point) for point in points)),
        drawn=sum(len(group.points) for group in shown),
        all=len(points),
        lines=tuple(lines),
        spots=tuple(spots),
        labels=tuple(labels),
        groups=tuple(shown),
        more=len(groups) - len(shown),
    )


@dataclass(frozen=True, slots=True)
class _Panel:
    """One small chart. values: of the group's points, None where one has none."""

    title: str
    frame: Frame
    y: Scale
    values: tuple[float | None, ...]
    told: tuple[str, ...]

    def draw(
        self, group: TrendGroup, first: datetime, span: timedelta
    ) -> tuple[list[Line], list[Spot], list[Label]]:
        frame = self.frame
        x = Scale(ScaleKind.LINEAR, -0.04, 1.04, frame.left, frame.right)
        rows = zip(group.points, self.values, self.told, strict=True)
        placed = [
            (point, (x.position((point.at - first) / span), self.y.position(value)), told)
            for point, value, told in rows
            if value is not None
        ]
        spots = [Spot(*at, point.href, f"Campaign {point.campaign}: {told}")
                 for point, at, told in placed]  # fmt: skip
        marks = [Mark(p.campaign, p.href, GLYPHS[VerdictWord.ACCEPTED], *at, "", "", "")
                 for p, at, _ in placed]  # fmt: skip
        lines = [Line("best", steps([at for _, at, _ in placed]))]
        lines.append(
            Line("frame", f"M{frame.left:g} {frame.top:g}V{frame.bottom:g}H{frame.right:g}")
        )
        labels = [Label(frame.left - 60, frame.top - 16, self.title, css="axis-title")]
        for tick in ticks_linear(self.y, 4):
            lines.append(Line("grid", f"M{frame.left:g} {tick.position:g}H{frame.right:g}"))
            labels.append(_tick(frame.left - 8, tick.position + 4, tick))
        for part, anchor in ((0.0, "start"), (1.0, "end")):
            text = _moment(first + span * part, span)
            at = x.position(part)
            labels.append(Label(at, frame.bottom + 29, text, anchor=anchor, css="tick"))
        # In the words of the placer a campaign is a mark with a number.
        return lines, spots, [*labels, *Placer(frame, marks).numbers(marks, above=True)]


def _times(group: TrendGroup, top: float) -> _Panel:
    values = tuple(point.time_us for point in group.points)
    told = tuple(f"best {duration(value)}" for value in values)
    frame = _frame(LEFT, TIME_END, top)
    y = Scale(ScaleKind.LINEAR, 0, max(values) * 1.2, frame.bottom, frame.top)
    return _Panel("µs (lower is better)", frame, y, values, told)


def _shares(group: TrendGroup, top: float) -> _Panel:
    shares = tuple(point.share for point in group.points)
    told = tuple(f"{share(one.share)} of {one.limit}" if one.share else "" for one in group.points)
    frame = _frame(SHARE_FROM, RIGHT, top)
    y = Scale(ScaleKind.LINEAR, 0, 120, frame.bottom, frame.top)
    values = tuple(None if value is None else min(120.0, 100 * value) for value in shares)
    return _Panel("share of its limit, %", frame, y, values, told)


def _frame(left: float, right: float, top: float) -> Frame:
    return Frame(WIDTH, BAND, left, right, top, top + BAND - HEAD - 42)


def _tick(x: float, y: float, tick: Tick) -> Label:
    return Label(x, y, tick.text, anchor="end", css="tick", minor=tick.minor)


def _moment(at: datetime, span: timedelta) -> str:
    return f"{at:%H:%M}" if span < DAY else f"{at:%d %b %y}" if span > 300 * DAY else f"{at:%d %b}"


def _row(name: str, point: TrendPoint) -> TableRow:
    reached = Cell("–")
    if point.share is not None:
        reached = Cell(f"{100 * point.share:.1f}", full(100 * point.share))
    texts = Cell(f"{point.at:%Y-%m-%d %H:%M}"), Cell(name)
    time = Cell(digits(point.time_us), full(point.time_us))
    cells = (*texts, time, reached, Cell(point.limit))
    return TableRow(f"campaign {point.campaign}", point.href, cells)
