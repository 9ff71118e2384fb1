"""Progress: how far to the target? Every attempt, the best so far, baseline and target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
COLUMNS = ("Time, µs", "Best so far, µs")
# Where a level's text stands from its line, in small and in large letters, and the axis title ends.
ABOVE, BELOW, TITLE_END = -6.0, (15.0, 20.0), 25.0
SPARK_WIDTH, SPARK_HEIGHT, EDGE = 96, 24, 3
LEAST_POINTS = 2


@dataclass(frozen=True, slots=True)
class ProgressPoint(Point):
    """One round's time per call over all cases; None where nothing was timed."""

    time_us: float | None


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

    best: the path of the best so far. first_us, best_us: of the first and the best accepted round.
    """

    kind: ClassVar[str] = "progress"
    template: ClassVar[str] = "campaigns/charts/progress.svg"
    title: ClassVar[str] = "Progress"
    y: Scale
    y_ticks: tuple[Tick, ...]
    marks: tuple[Mark, ...]
    dots: tuple[Dots, ...]
    labels: tuple[Label, ...]
    best: str
    baseline: ReferenceLine | None
    goal: ReferenceLine | None
    target: TargetLine | None
    first_us: float | None
    best_us: float | None
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
        point.mark(
            place(point),
            (point.number, point.time_us),
            duration(point.time_us) if point.time_us else "not timed",
        )
        for point in drawn
    )
    accepted = [p.time_us for p in points if p.verdict is VerdictWord.ACCEPTED and p.time_us]
    best = _best_so_far(points)
    first = accepted[0] if accepted else None
    placer = Placer(FRAME, marks, TITLE_END)
    goal = baseline = None
    if target:
        text = f"target {duration(target.time_us)}"
        goal = level(y.position(target.time_us), text, placer)
    labels = placer.numbers(marks, above=True)
    if first:
        text = f"baseline {duration(first)}"
        baseline = level(y.position(first), text, placer, at_end=True)
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
        best=_steps(best, x, y),
        baseline=baseline,
        goal=goal,
        target=target,
        first_us=first,
        best_us=min(accepted, default=None),
        rows=tuple(Row(p, (p.time_us, best[p.number])) for p in points),
        drawn=len(drawn),
        all=len(points),
    )


def _y_scale(points: Sequence[ProgressPoint], target: TargetLine | None) -> Scale:
    ends = [point.time_us for point in points if point.time_us]
    if target:
        ends.append(target.time_us)
    if max(ends) > LOG_FROM * min(ends):
        low, high = outward_125(min(ends) * 0.85, max(ends) * 1.15)
        return Scale(ScaleKind.LOG, low, high, FRAME.bottom, FRAME.top)
    return Scale(ScaleKind.LINEAR, 0, max(ends) * 1.12, FRAME.bottom, FRAME.top)


def _best_so_far(points: Sequence[ProgressPoint]) -> dict[int, float | None]:
    """Round → the least accepted time until then."""
    best: float | None = None
    found = {}
    for point in points:
        if point.verdict is VerdictWord.ACCEPTED and point.time_us:
            best = min(best or point.time_us, point.time_us)
        found[point.number] = best
    return found


def _steps(best: Mapping[int, float | None], x: Scale, y: Scale) -> str:
    path, level = "", 0.0
    for number, time in best.items():
        if time and time != level:
            across, height = x.position(number), y.position(time)
            path += f"H{across:g}V{height:g}" if path else f"M{across:g} {height:g}"
            level = time
    return path and f"{path}H{FRAME.right:g}"


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
