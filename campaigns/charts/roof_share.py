"""Share of the roof: how good is this kernel for its work? Every round, on a straight axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from campaigns.charts.drawing import Axis, Drawing, Line, across, steps
from campaigns.charts.labels import Placer
from campaigns.charts.marks import NoChart, Point, fewer
from campaigns.charts.progress import FRAME, TITLE_END, level
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.rules.wording import share as share_words
from knowledge.charts.frame import Cell, TableRow, TableTwin, full
from knowledge.charts.scale import Scale, ScaleKind, ticks_linear

MOST = 1.2  # the axis ends here; what is above it lies on its end and says so
FEWEST, MOST_MARKS = 6, 60


@dataclass(frozen=True, slots=True)
class SharePoint(Point):
    """One round. at: its number, or hours since the campaign began. share: a fraction."""

    at: float
    share: float


@dataclass(frozen=True, slots=True)
class ShareChart(Drawing):
    """first, last: the first and the last accepted round. target: a fraction. limit: of what."""

    kind: ClassVar[str] = "roof"
    title: ClassVar[str] = "Share of the roof"
    first: SharePoint | None = None
    last: SharePoint | None = None
    target: float = 0.0
    beyond: int = 0
    limit: str = ""


def build(
    points: Sequence[SharePoint], target: float, limit: str, x_title: str = "round"
) -> ShareChart | NoChart:
    """Lay out the chart; without a ceiling no round has a share. limit: of what, in words."""
    if not points:
        sentence = "No round has a share of the roof: nothing is timed, or a ceiling is UNKNOWN."
        return NoChart(ShareChart.kind, ShareChart.title, sentence)
    drawn = fewer(points, MOST_MARKS)
    is_round = x_title == "round"
    last = max(FEWEST if is_round else 0.01, *(p.at for p in drawn))
    ends = (0.5 * is_round - 0.02 * last, last * 1.02 + 0.5 * is_round)
    x = Scale(ScaleKind.LINEAR, *ends, FRAME.left, FRAME.right)
    y = Scale(ScaleKind.LINEAR, 0, MOST * 100, FRAME.bottom, FRAME.top)

    def place(point: SharePoint) -> tuple[float, float]:
        return x.position(point.at), y.position(100 * min(point.share, MOST))

    marks = tuple(
        p.mark(place(p), (p.at, 100 * p.share), f"{share_words(p.share)} of {limit}") for p in drawn
    )
    kept = [point for point in drawn if point.verdict is VerdictWord.ACCEPTED]
    placer = Placer(FRAME, marks, TITLE_END)
    levels = [
        level(y.position(100), limit, placer, at_end=True),
        level(y.position(100 * target), f"target {share_words(target)}", placer),
    ]
    labels = [*placer.numbers(marks, above=True), *(one.label for one in levels if one.label)]
    ticks = tuple(t for t in ticks_linear(x, 8) if not is_round or t.value == int(t.value))
    return ShareChart(
        frame=FRAME,
        table=TableTwin(("Round", f"Share of {limit}, %"), tuple(map(_row, drawn))),
        drawn=len(drawn),
        all=len(points),
        x=Axis(x_title, ticks),
        y=Axis(f"share of {limit}, %", ticks_linear(y)),
        lines=(
            Line("line ceiling", across(levels[0].y, FRAME)),
            Line("line target", across(levels[1].y, FRAME)),
            Line("best", steps([place(point) for point in kept])),
        ),
        marks=marks,
        labels=tuple(labels),
        first=kept[0] if kept else None,
        last=kept[-1] if kept else None,
        target=target,
        limit=limit,
        beyond=sum(point.share > MOST for point in points),
    )


def _row(point: SharePoint) -> TableRow:
    value = 100 * point.share
    return TableRow(f"round {point.number}", point.href, (Cell(f"{value:.1f}", full(value)),))
