"""Progress: how far to the target? Every attempt, the best so far, baseline and target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from campaigns.charts.marks import (
    LINE_DISTANCE,
    MOST_ROWS,
    NARROW,
    WIDE,
    Chart,
    Label,
    Mark,
    NoChart,
    Point,
    Row,
    fewer,
    left_out,
    merge_labels,
    thinned,
)
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.rules.wording import digits, duration
from knowledge.charts.frame import Cell, Frame, Segment, full
from knowledge.charts.scale import (
    Scale,
    ScaleKind,
    Tick,
    outward_125,
    ticks_125,
    ticks_linear,
)

TITLE = "Progress"
FRAME = Frame(width=720, height=400, left=80, right=704, top=74, bottom=344)
COLUMNS = ("Round", "Verdict", "Time, µs", "Low, µs", "High, µs", "Best so far, µs")
# Rounds without a time stand on a rail above the plot.
UNTIMED_Y = FRAME.top - 24
# Above this ratio of largest to smallest time a linear axis would hide the later rounds.
LOG_FROM = 10
LEAST_WHISKER = 16
FEWEST_ROUNDS = 6
MOST_MARKS = 100
# Where a level's text stands from its line.
ABOVE, BELOW = -6.0, 15.0


@dataclass(frozen=True, slots=True)
class ProgressPoint(Point):
    """One round's time per call over all cases; None where nothing was timed."""

    time_us: float | None
    low_us: float | None = None
    high_us: float | None = None


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
    """A labelled horizontal line. minor: its text is left out where letters are large."""

    y: float
    text: str
    text_y: float
    minor: bool = False


@dataclass(frozen=True, slots=True)
class ProgressChart(Chart):
    """Geometry of the progress chart; `templates/campaigns/charts/progress.svg` draws it."""

    y: Scale
    y_title: str
    y_ticks: tuple[Tick, ...]
    marks: tuple[Mark, ...]
    labels: tuple[Label, ...]
    whiskers: tuple[Segment, ...]
    best: str
    baseline: ReferenceLine | None
    goal: ReferenceLine | None
    target: TargetLine | None
    untimed_y: float


def build(
    points: Sequence[ProgressPoint], target: TargetLine | None, interval_kind: str = ""
) -> ProgressChart | NoChart:
    """Lay out the chart. interval_kind says what low and high are, with n, where they are given."""
    whole = len(points)
    points = fewer(points, MOST_MARKS)
    timed = [point.time_us for point in points if point.time_us]
    if not timed:
        return NoChart("progress", TITLE, "No round has been timed yet.")
    last = max(FEWEST_ROUNDS, *(point.number for point in points))
    x = Scale(ScaleKind.LINEAR, 0.5, last + 0.5, FRAME.left, FRAME.right)
    y = _y_scale(points, target)
    marks = tuple(_mark(point, x, y) for point in points)
    labels = thinned(merge_labels(marks, 0, -13))
    best = _best_so_far(points)
    so_far = {point.number: time for point, time in zip(points, best, strict=True)}
    first = next(
        (p.time_us for p in points if p.verdict is VerdictWord.ACCEPTED and p.time_us), None
    )
    goal = (
        ReferenceLine(y.position(target.time_us), f"target {duration(target.time_us)}", 0)
        if target
        else None
    )
    base = ReferenceLine(y.position(first), f"baseline {duration(first)}", 0) if first else None
    return ProgressChart(
        kind="progress",
        title=TITLE,
        frame=FRAME,
        x=x,
        y=y,
        y_title=f"time per call, µs{', log' if y.kind is ScaleKind.LOG else ''} (lower is better)",
        x_ticks=tuple(tick for tick in ticks_linear(x, 10) if tick.value == int(tick.value)),
        y_ticks=ticks_125(y) if y.kind is ScaleKind.LOG else ticks_linear(y),
        marks=marks,
        labels=labels,
        whiskers=_whiskers(points, x, y),
        best=_steps(points, best, x, y),
        baseline=_beside_marks(base, marks, labels) if base else None,
        goal=_clear(goal, BELOW),
        target=target,
        untimed_y=UNTIMED_Y,
        caption=_caption(first, best[-1], target)
        + (f" Intervals: {interval_kind}." if interval_kind else "")
        + left_out(len(points), whole),
        columns=COLUMNS,
        rows=tuple(_row(point, so_far[point.number]) for point in fewer(points, MOST_ROWS)),
    )


def _y_scale(points: Sequence[ProgressPoint], target: TargetLine | None) -> Scale:
    ends = [v for p in points if p.time_us for v in (p.time_us, p.low_us, p.high_us) if v]
    if target:
        ends.append(target.time_us)
    if max(ends) > LOG_FROM * min(ends):
        low, high = outward_125(min(ends) * 0.85, max(ends) * 1.15)
        return Scale(ScaleKind.LOG, low, high, FRAME.bottom, FRAME.top)
    return Scale(ScaleKind.LINEAR, 0, max(ends) * 1.12, FRAME.bottom, FRAME.top)


def _mark(point: ProgressPoint, x: Scale, y: Scale) -> Mark:
    told = duration(point.time_us) if point.time_us else "not timed"
    height = y.position(point.time_us) if point.time_us else UNTIMED_Y
    return point.mark((x.position(point.number), height), (point.number, point.time_us), told)


def _best_so_far(points: Sequence[ProgressPoint]) -> list[float | None]:
    best: list[float | None] = []
    for point in points:
        before = best[-1] if best else None
        took = point.time_us if point.verdict is VerdictWord.ACCEPTED else None
        best.append(min((t for t in (before, took) if t), default=None))
    return best


def _steps(
    points: Sequence[ProgressPoint], best: Sequence[float | None], x: Scale, y: Scale
) -> str:
    path: list[str] = []
    for point, time_us in zip(points, best, strict=True):
        if time_us:
            across = f"{'H' if path else 'M'}{x.position(point.number):g}"
            path.append(
                f"{across}V{y.position(time_us):g}" if path else f"{across} {y.position(time_us):g}"
            )
    return "".join([*path, f"H{FRAME.right:g}"]) if path else ""


def _whiskers(points: Sequence[ProgressPoint], x: Scale, y: Scale) -> tuple[Segment, ...]:
    lines = []
    for point in points:
        if point.time_us and point.low_us and point.high_us:
            low, high, at = (
                y.position(point.low_us),
                y.position(point.high_us),
                x.position(point.number),
            )
            if abs(low - high) >= LEAST_WHISKER:
                lines.append(Segment(at, low, at, high))
    return tuple(lines)


def _beside_marks(
    level: ReferenceLine, marks: Sequence[Mark], labels: Sequence[Label]
) -> ReferenceLine:
    """Write above the line, or below it where marks or their numbers are in the way at the right.

    Where they are on both sides the text is left out; the caption says it, too.
    """
    places = [*((m.x, m.y) for m in marks), *((label.x, label.y) for label in labels)]
    for letters in (NARROW, WIDE):
        near = [y for x, y in places if x > FRAME.right - len(level.text) * letters.width]
        for by in (ABOVE, BELOW):
            if all(abs(level.y + by - y) >= letters.height for y in near):
                return replace(level, text_y=level.y + by, minor=letters is WIDE)
    return replace(level, text="")


def _clear(level: ReferenceLine | None, beside: float) -> ReferenceLine | None:
    """Write above or below the line, whichever keeps the text inside the plot area."""
    if level is None:
        return None
    text_y = level.y + beside
    if text_y > FRAME.bottom - 2:
        text_y = level.y - LINE_DISTANCE
    return ReferenceLine(level.y, level.text, text_y)


def _caption(first: float | None, best: float | None, target: TargetLine | None) -> str:
    if not first or not best:
        return "No round has been accepted yet."
    told = f"Best so far {duration(best)}, baseline {duration(first)}"
    if not target:
        return f"{told}; no target, because a cited ceiling is missing."
    if best <= target.time_us:
        return f"{told}; the target of {duration(target.time_us)} is met."
    return (
        f"{told}; {duration(best - target.time_us)} above the target of {duration(target.time_us)}."
    )


def _row(point: ProgressPoint, best: float | None) -> Row:
    values = (point.time_us, point.low_us, point.high_us, best)
    return point.row(Cell(digits(v), full(v)) if v else Cell("–") for v in values)
