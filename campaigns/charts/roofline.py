"""Roofline: where are we, and what bounds us? Log-log, every ceiling a link to its source."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.charts.marks import (
    GLYPHS,
    LINE_DISTANCE,
    MOST_ROWS,
    Chart,
    Label,
    Mark,
    NoChart,
    Point,
    Row,
    arrows,
    fewer,
    left_out,
    merge_labels,
)
from campaigns.rules.target.roofline import TARGET_FRACTION, choose_ceiling
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.rules.wording import digits, share
from knowledge.charts.frame import Cell, Frame, Segment, full
from knowledge.charts.scale import (
    Scale,
    ScaleKind,
    Tick,
    outward_125,
    outward_two,
    ticks_125,
    ticks_of_two,
)
from knowledge.specs.cited import UNKNOWN, Cited, EvidenceClass

TITLE = "Roofline"
FRAME = Frame(width=720, height=440, left=66, right=704, top=32, bottom=382)
# Width of a letter, to tell whether a label fits along its line; the list below has them all.
LETTER = 6.3
MOST_MARKS = 40
COLUMNS = ("Round", "Verdict", "Intensity, FLOP/byte", "Share of roof, %")


@dataclass(frozen=True, slots=True)
class RoofPoint(Point):
    """One round on one case. intensity: FLOP/byte; flops_per_s: reached."""

    intensity: float | None
    flops_per_s: float | None


@dataclass(frozen=True, slots=True)
class Roof:
    """A cited ceiling as an input. reviewed: its spec is approved."""

    cited: Cited
    reviewed: bool = True

    @property
    def label(self) -> str:
        """Name, value, unit and where it is written: "memory bandwidth 4.8 TB/s [h200.md:L23]"."""
        name = self.cited.metric.replace("_", " ")
        place = self.cited.citation.rpartition("/")[2]
        note = ", unreviewed" if not self.reviewed else ""
        return f"{name} {self.cited.display} [{place}]{note}"

    @property
    def css(self) -> str:
        """Solid when documented, dashed when measured, dotted when nobody has reviewed it."""
        if not self.reviewed:
            return "ceiling-unreviewed"
        return "ceiling-measured" if self.cited.evidence == EvidenceClass.MEASURED else "ceiling"


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A drawn or merely listed ceiling. line is None where it would touch another line.

    angle: of the label in degrees; dy: of its baseline from the line.
    """

    roof: Roof
    line: Segment | None
    label: Label | None
    angle: float
    dy: float


@dataclass(frozen=True, slots=True)
class RooflineChart(Chart):
    """Geometry of the roofline; `templates/campaigns/charts/roofline.svg` draws it."""

    y: Scale
    unit: str
    y_ticks: tuple[Tick, ...]
    ceilings: tuple[Ceiling, ...]
    forbidden: str
    forbidden_label: Label
    target: str
    target_text: str
    marks: tuple[Mark, ...]
    labels: tuple[Label, ...]
    arrows: tuple[Segment, ...]


def build(
    points: Sequence[RoofPoint],
    bandwidths: Sequence[Roof],
    computes: Sequence[Roof],
    target_fraction: float = TARGET_FRACTION,
    case: str = "",
) -> RooflineChart | NoChart:
    """Lay out the chart; without both kinds of ceiling it says UNKNOWN instead."""
    title = f"{TITLE}, {case}" if case else TITLE
    missing = [
        name for name, found in (("bandwidth", bandwidths), ("compute", computes)) if not found
    ]
    if missing:
        return NoChart("roofline", title, f"{' and '.join(missing)} ceiling: {UNKNOWN}")
    best = [max(roofs, key=lambda roof: roof.cited.value) for roofs in (bandwidths, computes)]
    bytes_per_s, peak = (roof.cited.value for roof in best)
    size, unit = (1e12, "TFLOP/s") if peak >= 1e12 else (1e9, "GFLOP/s")
    measured = [roof.cited.evidence == EvidenceClass.MEASURED for roof in best]
    outer = _Outer(bytes_per_s / size, peak / size, *measured)
    known = [point for point in points if point.intensity and point.flops_per_s]
    placed = fewer(known, MOST_MARKS)
    x, y = _scales(placed, outer, size)
    marks = tuple(_mark(point, outer, x, y, size) for point in placed)
    ceilings = _ceilings(bandwidths, computes, x, y, size)
    target, target_text = _target(bandwidths, computes, target_fraction, x, y, size)
    return RooflineChart(
        kind="roofline",
        title=title,
        frame=FRAME,
        x=x,
        y=y,
        unit=unit,
        x_ticks=ticks_of_two(x),
        y_ticks=ticks_125(y),
        ceilings=ceilings,
        forbidden=_forbidden(outer, x, y),
        forbidden_label=Label(FRAME.left + 10, FRAME.top + 18, "above the cited roof"),
        target=target,
        target_text=target_text,
        marks=marks,
        labels=merge_labels(marks),
        arrows=arrows([m for m, p in zip(marks, placed, strict=True) if _kept(p, outer, size)]),
        caption=_caption(placed, outer, size) + left_out(len(placed), len(known)),
        columns=(*COLUMNS[:3], f"Reached, {unit}", COLUMNS[3]),
        rows=tuple(_row(point, outer, size) for point in fewer(points, MOST_ROWS)),
    )


@dataclass(frozen=True, slots=True)
class _Outer:
    """The outer roof in shown units: slope per FLOP/byte, and peak; each measured or documented."""

    slope: float
    peak: float
    slope_measured: bool = False
    peak_measured: bool = False

    @property
    def ridge(self) -> float:
        return self.peak / self.slope

    def at(self, intensity: float) -> float:
        return min(self.slope * intensity, self.peak)

    def measured_at(self, intensity: float) -> bool:
        return self.slope_measured if intensity < self.ridge else self.peak_measured

    def share(self, point: RoofPoint, size: float) -> float:
        return (point.flops_per_s or 0.0) / size / self.at(point.intensity or 1.0)


def _kept(point: RoofPoint, outer: _Outer, size: float) -> bool:
    soft = outer.measured_at(point.intensity or 1.0)
    return point.verdict is VerdictWord.ACCEPTED and (soft or outer.share(point, size) <= 1)


def _scales(points: Sequence[RoofPoint], outer: _Outer, size: float) -> tuple[Scale, Scale]:
    across = [point.intensity or 0.0 for point in points] + [outer.ridge]
    # Room on the right for the labels of the flat ceilings.
    x_low, x_high = outward_two(min(across) / 4, max(*across, outer.ridge * 6) * 4)
    heights = [(point.flops_per_s or 0.0) / size for point in points]
    y_low, y_high = outward_125(
        min([*heights, outer.at(min(across))]) / 2, max([*heights, outer.peak]) * 2
    )
    return (
        Scale(ScaleKind.LOG, x_low, x_high, FRAME.left, FRAME.right),
        Scale(ScaleKind.LOG, y_low, y_high, FRAME.bottom, FRAME.top),
    )


def _mark(point: RoofPoint, outer: _Outer, x: Scale, y: Scale, size: float) -> Mark:
    intensity, height = point.intensity or 0.0, (point.flops_per_s or 0.0) / size
    reached = outer.share(point, size)
    # Nothing can be above what is documented, so it is drawn as a cross whatever was claimed; a
    # measured roof may be too low.
    crossed = reached > 1 and not outer.measured_at(intensity)
    glyph = GLYPHS[VerdictWord.INVALID] if crossed else None
    at = (x.position(intensity), y.position(height))
    return point.mark(at, (intensity, height), f"{share(reached)} of the roof", glyph)


def _ceilings(
    bandwidths: Sequence[Roof], computes: Sequence[Roof], x: Scale, y: Scale, size: float
) -> tuple[Ceiling, ...]:
    outer = [max(roof.cited.value for roof in roofs) / size for roofs in (bandwidths, computes)]
    found: list[Ceiling] = []
    for roofs, make in ((bandwidths, _diagonal), (computes, _flat)):
        drawn: list[float] = []
        for roof in sorted(roofs, key=lambda roof: -roof.cited.value):
            line = make(roof.cited.value / size, outer, x, y)
            height = line.y2 if roofs is computes else y.position(roof.cited.value / size * x.low)
            if any(abs(height - other) < LINE_DISTANCE for other in drawn):
                found.append(Ceiling(roof, None, None, 0, 0))
                continue
            found.append(_labelled(roof, line, len(drawn)))
            drawn.append(height)
    return tuple(found)


def _diagonal(slope: float, outer: Sequence[float], x: Scale, y: Scale) -> Segment:
    left = max(x.low, y.low / slope)
    right = min(x.high, outer[1] / slope)
    ends = (left, slope * left, right, slope * right)
    return Segment(
        x.position(ends[0]), y.position(ends[1]), x.position(ends[2]), y.position(ends[3])
    )


def _flat(height: float, outer: Sequence[float], x: Scale, y: Scale) -> Segment:
    left = max(x.low, height / outer[0])
    return Segment(x.position(left), y.position(height), x.position(x.high), y.position(height))


def _labelled(roof: Roof, line: Segment, rank: int) -> Ceiling:
    """Write along the line where it is long enough: the outermost above it, the next below."""
    if rank > 1 or len(roof.label) * LETTER > math.dist((line.x1, line.y1), (line.x2, line.y2)):
        return Ceiling(roof, line, None, 0, 0)
    dy = 16 if rank else -8
    if line.y1 == line.y2:
        return Ceiling(roof, line, Label(line.x2 - 6, line.y2, roof.label), 0, dy)
    angle = math.degrees(math.atan2(line.y2 - line.y1, line.x2 - line.x1))
    along = 0.85 if rank else 0.95
    x, y = (end[0] + (end[1] - end[0]) * along for end in ((line.x1, line.x2), (line.y1, line.y2)))
    return Ceiling(roof, line, Label(round(x, 2), round(y, 2), roof.label), round(angle, 2), dy)


def _forbidden(outer: _Outer, x: Scale, y: Scale) -> str:
    left = max(x.low, y.low / outer.slope)
    corners = [(left, outer.at(left)), (outer.ridge, outer.peak), (x.high, outer.peak)]
    corners += [(x.high, y.high), (x.low, y.high)]
    if left > x.low:
        corners.append((x.low, y.low))
    return " ".join(f"{x.position(a):g},{y.position(b):g}" for a, b in corners)


def _target(
    bandwidths: Sequence[Roof],
    computes: Sequence[Roof],
    fraction: float,
    x: Scale,
    y: Scale,
    size: float,
) -> tuple[str, str]:
    """The target's line ("" where it would touch a ceiling) and its formula with both sources."""
    chosen = [choose_ceiling(r.cited for r in roofs) for roofs in (bandwidths, computes)]
    labels = [Roof(cited).label for cited in chosen if cited]
    text = f"target: {share(fraction)} of {' and '.join(labels)}"
    slope, peak = (cited.value / size * fraction for cited in chosen if cited)
    left = max(x.low, y.low / slope)
    corners = [(left, slope * left), (peak / slope, peak), (x.high, peak)]
    flats = [y.position(roof.cited.value / size) for roof in computes]
    slopes = [y.position(roof.cited.value / size * left) for roof in bandwidths]
    gaps = [abs(y.position(peak) - at) for at in flats]
    gaps += [abs(y.position(slope * left) - at) for at in slopes]
    if min(gaps) < LINE_DISTANCE:
        return "", text
    return " ".join(f"{x.position(a):g},{y.position(b):g}" for a, b in corners), text


def _caption(points: Sequence[RoofPoint], outer: _Outer, size: float) -> str:
    kept = [point for point in points if _kept(point, outer, size)]
    if not kept:
        return "No accepted round has a place under the roof yet."
    last = kept[-1]
    intensity = last.intensity or 0.0
    bound = "memory" if intensity < outer.ridge else "compute"
    reached = share(outer.share(last, size))
    where = f"{digits(intensity)} FLOP/byte, ridge {digits(outer.ridge)}"
    return f"Round {last.number} reaches {reached} of the roof and is {bound} bound ({where})."


def _row(point: RoofPoint, outer: _Outer, size: float) -> Row:
    cells = [Cell("–"), Cell("–"), Cell("–")]
    if point.intensity and point.flops_per_s:
        values = (point.intensity, point.flops_per_s / size, outer.share(point, size) * 100)
        cells = [Cell(digits(value), full(value)) for value in values]
    return point.row(cells)
