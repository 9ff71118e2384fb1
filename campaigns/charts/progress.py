"""Progress: how far to the target? Every attempt beside its incumbent, measured in one session.

Sessions differ, so compare the two times of one round, never those of two rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from campaigns.charts.labels import Label, Placer
from campaigns.charts.marks import (
    Chart,
    Dots,
    Mark,
    NoChart,
    Place,
    Point,
    Row,
    thinned,
)
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.rules.wording import duration
from knowledge.charts.frame import Frame
from knowledge.charts.scale import Scale, ScaleKind, Tick, outward_125, ticks_125, ticks_linear

FRAME = Frame(width=720, height=400, left=88, right=700, top=74, bottom=344)
# Rounds without a time stand on a rail above the plot.
UNTIMED_Y = FRAME.top - 24
# Above this ratio of largest to smallest time a linear axis would hide the later rounds.
LOG_FROM = 10
FEWEST_ROUNDS = 6
MOST_MARKS = 60
COLUMNS = ("Time, µs", "Incumbent beside it, µs")
# Half of the stroke at an incumbent's time.
STROKE = 5
# Where a level's text stands from its line, in small and in large letters, and the axis title ends.
ABOVE, BELOW, TITLE_END = -6.0, (15.0, 20.0), 25.0
SPARK_WIDTH, SPARK_HEIGHT, EDGE = 96, 24, 3
LEAST_POINTS = 2


@dataclass(frozen=True, slots=True)
class ProgressPoint(Point):
    """One round's time per call over all cases, and its incumbent's; None where not timed."""

    time_us: float | None
    incumbent_us: float | None = None

    @property
    def note(self) -> str:
        """Both times in words."""
        if not self.time_us:
            return "not timed"
        beside = self.incumbent_us and f", its incumbent {duration(self.incumbent_us)} beside it"
        return f"{duration(self.time_us)}{beside or ''}"


@dataclass(frozen=True, slots=True)
class SourceLink:
    """Where a number is written: its citation and the page that opens it."""

    citation: str
    href: str


@dataclass(frozen=True, slots=True)
class TargetLine:
    """The time to reach, its arithmetic in words, and what it rests on."""

    time_us: float
    formula: str
    sources: tuple[SourceLink, ...] = ()


@dataclass(frozen=True, slots=True)
class ReferenceLine:
    """A horizontal line. label: None where there is no room for it; the caption says it, too."""

    y: float
    label: Label | None


@dataclass(frozen=True, slots=True)
class ProgressChart(Chart):
    """Geometry of the progress chart; `templates/campaigns/charts/progress.svg` draws it.

    beside: the path from each incumbent to the round. first, last: the first and the last kept.
    """

    kind: ClassVar[str] = "progress"
    template: ClassVar[str] = "campaigns/charts/progress.svg"
    title: ClassVar[str] = "Progress"
    y: Scale
    y_ticks: tuple[Tick, ...]
    marks: tuple[Mark, ...]
    dots: tuple[Dots, ...]
    labels: tuple[Label, ...]
    beside: str
    baseline: ReferenceLine | None
    goal: ReferenceLine | None
    target: TargetLine | None
    first: ProgressPoint | None
    last: ProgressPoint | None
    untimed_y: float = UNTIMED_Y


def build(points: Sequence[ProgressPoint], target: TargetLine | None) -> ProgressChart | NoChart:
    """Lay out the chart; without any time there is none."""
    if not any(point.time_us for point in points):
        return NoChart(ProgressChart.kind, ProgressChart.title, "No round has been timed yet.")
    last = max(FEWEST_ROUNDS, *(point.number for point in points))
    # Of many rounds the first one still stands clear of the axis.
    x = Scale(ScaleKind.LINEAR, 0.5 - 0.02 * last, last + 0.5, FRAME.left, FRAME.right)
    y = _y_scale(points, target)

    def place(point: ProgressPoint) -> Place:
        return x.position(point.number), y.position(point.time_us) if point.time_us else UNTIMED_Y

    drawn, dots = thinned(points, place, MOST_MARKS)
    marks = tuple(
        point.mark(place(point), (point.number, point.time_us), point.note) for point in drawn
    )
    kept = [p for p in points if p.verdict is VerdictWord.ACCEPTED and p.time_us]
    first = kept[0] if kept else None
    placer = Placer(FRAME, marks, TITLE_END)
    goal = baseline = None
    if target:
        text = f"target {duration(target.time_us)}"
        goal = level(y.position(target.time_us), text, placer)
    # Beside the marks, as the strokes stand above them.
    labels = placer.numbers(marks)
    if first and first.time_us:
        text = f"v0 in round {first.number} {duration(first.time_us)}"
        baseline = level(y.position(first.time_us), text, placer, at_end=True)
    return ProgressChart(
        columns=COLUMNS,
        frame=FRAME,
        x=x,
        y=y,
        x_ticks=tuple(tick for tick in ticks_linear(x, 10) if tick.value == int(tick.value)),
        y_ticks=ticks_125(y) if y.kind is ScaleKind.LOG else ticks_linear(y),
        marks=marks,
        dots=dots,
        labels=labels,
        beside=_beside(drawn, x, y),
        baseline=baseline,
        goal=goal,
        target=target,
        first=first,
        last=kept[-1] if kept else None,
        rows=tuple(Row(p, (p.time_us, p.incumbent_us)) for p in points),
        drawn=len(drawn),
        all=len(points),
    )


def _y_scale(points: Sequence[ProgressPoint], target: TargetLine | None) -> Scale:
    ends = [us for point in points for us in (point.time_us, point.incumbent_us) if us]
    if target:
        ends.append(target.time_us)
    if max(ends) > LOG_FROM * min(ends):
        low, high = outward_125(min(ends) * 0.85, max(ends) * 1.15)
        return Scale(ScaleKind.LOG, low, high, FRAME.bottom, FRAME.top)
    return Scale(ScaleKind.LINEAR, 0, max(ends) * 1.12, FRAME.bottom, FRAME.top)


def _beside(points: Sequence[ProgressPoint], x: Scale, y: Scale) -> str:
    path = ""
    for point in points:
        if point.time_us and point.incumbent_us:
            across, height = x.position(point.number), y.position(point.incumbent_us)
            path += f"M{across - STROKE:g} {height:g}h{2 * STROKE}"
            path += f"M{across:g} {height:g}V{y.position(point.time_us):g}"
    return path


def level(y: float, text: str, placer: Placer, *, at_end: bool = False) -> ReferenceLine:
    """A horizontal line with its text above or below it, at one end or the other."""
    ends = ((placer.frame.left + 6, "start"), (placer.frame.right - 4, "end"))
    places = [
        Label(x, y + by, text, anchor=anchor, css="quiet")
        for x, anchor in (ends[::-1] if at_end else ends)
        for by in ((ABOVE, *BELOW) if at_end else (*BELOW, ABOVE))
    ]
    return ReferenceLine(y, placer.place(places))


@dataclass(frozen=True, slots=True)
class Spark:
    """A course of times at a glance, without axes; the numbers stand beside it.

    points: as an SVG polyline takes them. x, y: of the last one. first, last:
    the values.
    """

    points: str
    x: float
    y: float
    first: float
    last: float
    width: int = SPARK_WIDTH
    height: int = SPARK_HEIGHT


def spark(values: Sequence[float]) -> Spark | None:
    """The values from left to right, zero at the bottom; None for fewer than two."""
    if len(values) < LEAST_POINTS:
        return None
    top = max(values)
    step = (SPARK_WIDTH - 2 * EDGE) / (len(values) - 1)
    places = [
        (EDGE + at * step, SPARK_HEIGHT - EDGE - value / top * (SPARK_HEIGHT - 2 * EDGE))
        for at, value in enumerate(values)
    ]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return Spark(points, *places[-1], first=values[0], last=values[-1])
