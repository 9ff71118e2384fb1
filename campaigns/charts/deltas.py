"""Deltas: was it real? Each round's change against its incumbent with interval and noise floor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.charts.marks import MOST_ROWS, Chart, Mark, NoChart, Point, Row, fewer, left_out
from campaigns.rules.noise.gain import ONE_SESSION, Gain
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.rules.wording import share
from knowledge.charts.frame import Cell, Frame, Segment, full
from knowledge.charts.scale import Scale, ScaleKind, ticks_linear

TITLE = "Change per round"
COLUMNS = ("Round", "Verdict", "Change, %", "Low, %", "High, %", "Pairs")
WIDTH, LEFT, RIGHT, TOP, ROW, BELOW = 720, 66, 590, 30, 36, 62
# A change beyond this would squeeze all others together, so the axis is cut and says so.
CUT_FROM = 0.25
MOST_MARKS = 30


@dataclass(frozen=True, slots=True)
class DeltaPoint(Point):
    """One round against the incumbent of its time."""

    gain: Gain


@dataclass(frozen=True, slots=True)
class DeltaRow:
    """One line of the chart. whisker: the interval. beyond: -1 or 1 where it is off scale."""

    mark: Mark
    whisker: Segment | None
    text: str
    beyond: int


@dataclass(frozen=True, slots=True)
class Box:
    """A filled area."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class DeltaChart(Chart):
    """Geometry of the delta chart; `templates/campaigns/charts/deltas.svg` draws it.

    cuts: where the x axis ends before its values do, and so carries a break mark.
    """

    x_title: str
    zero: float
    band: Box
    band_text: str
    minimum: float
    minimum_text: str
    lines: tuple[DeltaRow, ...]
    cuts: tuple[float, ...]


def build(
    points: Sequence[DeltaPoint], noise: float, minimum: float = ONE_SESSION
) -> DeltaChart | NoChart:
    """Lay out the chart in the order given. noise, minimum: fractions (0.01 is 1 %)."""
    if not points:
        return NoChart("deltas", TITLE, "No round has been compared with an incumbent yet.")
    all_points, points = points, fewer(points, MOST_MARKS)
    frame = Frame(WIDTH, TOP + ROW * len(points) + BELOW, LEFT, RIGHT, TOP, TOP + ROW * len(points))
    least = max(2 * minimum, 2 * noise)
    ends = [(point.gain.low, point.gain.high) for point in points]
    whole = min(-least, *(low for low, _ in ends)), max(least, *(high for _, high in ends))
    shown = _shown(points, least, whole)
    room = (shown[1] - shown[0]) * 0.06
    x = Scale(ScaleKind.LINEAR, (shown[0] - room) * 100, (shown[1] + room) * 100, LEFT, RIGHT)
    is_cut = shown != whole
    return DeltaChart(
        kind="deltas",
        title=TITLE,
        frame=frame,
        x=x,
        x_title="change against the incumbent, % (right is faster)"
        + (", axis cut" if is_cut else ""),
        x_ticks=ticks_linear(x, 8),
        zero=x.position(0),
        band=_band(noise, x, frame),
        band_text=f"noise floor ±{share(noise)}",
        minimum=x.position(minimum * 100),
        minimum_text=f"minimum improvement {share(minimum)}",
        lines=tuple(_line(point, index, x) for index, point in enumerate(points)),
        cuts=tuple(
            end for end, wide in ((LEFT, whole[0] < shown[0]), (RIGHT, whole[1] > shown[1])) if wide
        ),
        caption=_caption(all_points) + left_out(len(points), len(all_points)),
        columns=COLUMNS,
        rows=tuple(_row(point) for point in fewer(points, MOST_ROWS)),
    )


def _shown(
    points: Sequence[DeltaPoint], least: float, whole: tuple[float, float]
) -> tuple[float, float]:
    """Leave out far changes where there are near ones to see."""
    near = [p.gain for p in points if max(abs(p.gain.low), abs(p.gain.high)) <= CUT_FROM]
    if not near:
        return whole
    return min(-least, *(gain.low for gain in near)), max(least, *(gain.high for gain in near))


def _band(noise: float, x: Scale, frame: Frame) -> Box:
    left, right = x.position(-noise * 100), x.position(noise * 100)
    return Box(left, frame.top, round(right - left, 2), frame.bottom - frame.top)


def _line(point: DeltaPoint, index: int, x: Scale) -> DeltaRow:
    gain = point.gain
    y = TOP + ROW * (index + 0.5)
    percent = gain.gain * 100
    beyond = (percent > x.high) - (percent < x.low)
    low, high = (min(max(end * 100, x.low), x.high) for end in (gain.low, gain.high))
    mark = point.mark(
        (x.position(min(max(percent, x.low), x.high)), y),
        (percent, point.number),
        gain.brief,
    )
    whisker = Segment(x.position(low), y, x.position(high), y) if high > low else None
    return DeltaRow(mark, whisker, _short(gain), beyond)


def _short(gain: Gain) -> str:
    """Beside the line that shows the interval: "2.75× faster"."""
    return gain.words.partition(" [")[0]


def _caption(points: Sequence[DeltaPoint]) -> str:
    accepted = sum(point.verdict is VerdictWord.ACCEPTED for point in points)
    pairs = sorted({point.gain.pairs for point in points})
    n = str(pairs[0]) if len(pairs) == 1 else f"{pairs[0]} to {pairs[-1]}"
    kinds = "; ".join(sorted({point.gain.kind for point in points}))
    lead = f"{accepted} of {len(points)} compared rounds were accepted against their incumbent."
    return f"{lead} Intervals: {kinds}, n={n} pairs a case."


def _row(point: DeltaPoint) -> Row:
    gain = point.gain
    values = [value * 100 for value in (gain.gain, gain.low, gain.high)]
    cells = [Cell(f"{value:+.1f}", full(value)) for value in values]
    cells.append(Cell(str(gain.pairs), str(gain.pairs)))
    return point.row(cells)
