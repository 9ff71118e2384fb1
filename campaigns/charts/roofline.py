"""Roofline: where are we, and what bounds us? Log-log, every ceiling a link to its source."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from campaigns.charts.labels import Label, Placer
from campaigns.charts.marks import (
    GLYPHS,
    LINE_DISTANCE,
    Chart,
    Dots,
    Mark,
    NoChart,
    Place,
    Point,
    Row,
    arrows,
    thinned,
)
from campaigns.rules.target.roofline import TARGET_FRACTION, choose_ceiling
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.rules.wording import share
from knowledge.charts.frame import Frame, Segment
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

FRAME = Frame(width=720, height=440, left=90, right=688, top=32, bottom=382)
MOST_MARKS = 40
# Where along its line and how far from it a ceiling's label may stand; the list below has them all.
ALONG, ABOVE, BELOW = (0.97, 0.8, 0.6, 0.4), -7.0, 16.0
ABOVE_ROOF = "above the cited roof"


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
    def brief(self) -> str:
        """Its name and value alone, for where there is little room."""
        return self.label.partition(" [")[0]

    @property
    def css(self) -> str:
        """Solid when documented, dashed when measured, dotted when nobody has reviewed it."""
        if not self.reviewed:
            return "ceiling-unreviewed"
        return "ceiling-measured" if self.cited.evidence == EvidenceClass.MEASURED else "ceiling"


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A drawn or merely listed ceiling. line is None where it would touch another line."""

    roof: Roof
    line: Segment | None


@dataclass(frozen=True, slots=True)
class RoofPlace:
    """Where the last accepted round stands. share: of `limit`; intensity, ridge: FLOP/byte.

    counted: its intensity by the bytes that DRAM moved, None where nobody counted, and its place.
    """

    number: int
    share: float
    limit: str
    intensity: float
    ridge: float
    counted: float | None = None
    at: Place = (0.0, 0.0)
    counted_at: Place = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class RooflineChart(Chart):
    """Geometry of the roofline; `templates/campaigns/charts/roofline.svg` draws it.

    target: the line of it, "" where it would touch a ceiling; target_roofs: what it is a share of.
    """

    kind: ClassVar[str] = "roofline"
    template: ClassVar[str] = "campaigns/charts/roofline.svg"
    title: str
    y: Scale
    unit: str
    y_ticks: tuple[Tick, ...]
    ceilings: tuple[Ceiling, ...]
    forbidden: str
    target: str
    target_fraction: float
    target_roofs: tuple[Roof, ...]
    marks: tuple[Mark, ...]
    dots: tuple[Dots, ...]
    labels: tuple[Label, ...]
    arrows: tuple[Segment, ...]
    last: RoofPlace | None


def build(
    points: Sequence[RoofPoint],
    bandwidths: Sequence[Roof],
    computes: Sequence[Roof],
    target_fraction: float = TARGET_FRACTION,
    case: str = "",
    counted: float | None = None,
) -> RooflineChart | NoChart:
    """Lay out the chart; without both kinds of ceiling it says UNKNOWN instead.

    counted: FLOP/byte of the last accepted round by the bytes that DRAM moved.
    """
    title = f"Roofline, {case}" if case else "Roofline"
    kinds = {"bandwidth": bandwidths, "compute": computes}
    if missing := [name for name, found in kinds.items() if not found]:
        sentence = f"{' and '.join(missing)} ceiling: {UNKNOWN}"
        return NoChart(RooflineChart.kind, title, sentence)
    best = [max(roofs, key=lambda roof: roof.cited.value) for roofs in (bandwidths, computes)]
    bytes_per_s, peak = (roof.cited.value for roof in best)
    size, unit = (1e12, "TFLOP/s") if peak >= 1e12 else (1e9, "GFLOP/s")
    slope, flat = (roof.cited.evidence == EvidenceClass.MEASURED for roof in best)
    chosen = [choose_ceiling(r.cited for r in roofs) for roofs in (bandwidths, computes)]
    target_roofs = tuple(Roof(cited) for cited in chosen if cited)
    outer = _Outer(size, bytes_per_s / size, peak / size, slope, flat, target_roofs)
    known = [point for point in points if point.intensity and point.flops_per_s]
    # All are of one case, so of one intensity.
    limit = outer.limit(known[0]).words if known else "its limit"
    columns = "Intensity, FLOP/byte", f"Reached, {unit}", f"Share of {limit}, %"
    x, y = _scales(known, outer)
    placed, dots = thinned(known, lambda point: _place(point, outer, x, y), MOST_MARKS)
    marks = tuple(_mark(point, outer, x, y) for point in placed)
    kept = {point.number: point for point in known if outer.keeps(point)}
    last = kept[max(kept)] if kept else None
    ceilings = _ceilings(bandwidths, computes, x, y, outer)
    # Where letters are large the first one would touch the lowest tick of the other axis.
    first, *ticks = ticks_of_two(x)
    return RooflineChart(
        title=title,
        columns=columns,
        frame=FRAME,
        x=x,
        y=y,
        unit=unit,
        x_ticks=(replace(first, minor=True), *ticks),
        y_ticks=ticks_125(y),
        ceilings=ceilings,
        forbidden=_forbidden(outer, x, y),
        target=_target(target_roofs, target_fraction, (bandwidths, computes), x, y, size),
        target_fraction=target_fraction,
        target_roofs=target_roofs,
        marks=marks,
        dots=dots,
        labels=_labels(marks, ceilings),
        arrows=arrows([mark for mark in marks if mark.number in kept]),
        last=_last(last, counted, outer, x, y) if last else None,
        rows=tuple(Row(point, outer.values(point)) for point in points),
        drawn=len(placed),
        all=len(known),
    )


@dataclass(frozen=True, slots=True)
class _Outer:
    """The outer roof in shown units: slope per FLOP/byte, and peak; each measured or documented.

    size: FLOP/s in one shown unit. target: what the target is a share of, and so every share here.
    """

    size: float
    slope: float
    peak: float
    slope_measured: bool
    peak_measured: bool
    target: tuple[Roof, ...]

    @property
    def ridge(self) -> float:
        return self.peak / self.slope

    @property
    def target_ridge(self) -> float:
        slope, peak = self.target
        return peak.cited.value / slope.cited.value

    def at(self, intensity: float) -> float:
        return min(self.slope * intensity, self.peak)

    def limit(self, point: RoofPoint) -> Cited:
        """Return the ceiling of the target that holds this point back."""
        slope, peak = self.target
        return slope.cited if (point.intensity or 1.0) < self.target_ridge else peak.cited

    def share(self, point: RoofPoint) -> float:
        limit, reached = self.limit(point), point.flops_per_s or 0.0
        per = point.intensity or 1.0 if limit is self.target[0].cited else 1.0
        return reached / per / limit.value

    def is_crossed(self, point: RoofPoint) -> bool:
        """Nothing can be above what is documented; a measured roof may be too low."""
        intensity = point.intensity or 1.0
        measured = self.slope_measured if intensity < self.ridge else self.peak_measured
        return (point.flops_per_s or 0.0) / self.size > self.at(intensity) and not measured

    def keeps(self, point: RoofPoint) -> bool:
        return point.verdict is VerdictWord.ACCEPTED and not self.is_crossed(point)

    def values(self, point: RoofPoint) -> tuple[float | None, ...]:
        """Intensity, what is reached, and its share of the limit in percent, for the table."""
        if not point.intensity or not point.flops_per_s:
            return (None, None, None)
        return point.intensity, point.flops_per_s / self.size, self.share(point) * 100


def _scales(points: Sequence[RoofPoint], outer: _Outer) -> tuple[Scale, Scale]:
    across = [point.intensity or 0.0 for point in points] + [outer.ridge]
    # Room on the right for the labels of the flat ceilings.
    x_low, x_high = outward_two(min(across) / 4, max(*across, outer.ridge * 6) * 4)
    heights = [(point.flops_per_s or 0.0) / outer.size for point in points]
    y_low, y_high = outward_125(
        min([*heights, outer.at(min(across))]) / 2, max([*heights, outer.peak]) * 2
    )
    return (
        Scale(ScaleKind.LOG, x_low, x_high, FRAME.left, FRAME.right),
        Scale(ScaleKind.LOG, y_low, y_high, FRAME.bottom, FRAME.top),
    )


def _place(point: RoofPoint, outer: _Outer, x: Scale, y: Scale) -> Place:
    height = (point.flops_per_s or 0.0) / outer.size
    return x.position(point.intensity or 0.0), y.position(height)


def _last(point: RoofPoint, counted: float | None, outer: _Outer, x: Scale, y: Scale) -> RoofPlace:
    place, there = _place(point, outer, x, y), None
    if counted and x.low <= counted <= x.high:
        there = x.position(counted), place[1]
    return RoofPlace(
        point.number,
        outer.share(point),
        outer.limit(point).words,
        point.intensity or 0.0,
        outer.target_ridge,
        counted,
        place,
        there or place,
    )


def _mark(point: RoofPoint, outer: _Outer, x: Scale, y: Scale) -> Mark:
    values = point.intensity or 0.0, (point.flops_per_s or 0.0) / outer.size
    # Drawn as a cross whatever was claimed.
    glyph = GLYPHS[VerdictWord.INVALID] if outer.is_crossed(point) else None
    told = f"{share(outer.share(point))} of {outer.limit(point).words}"
    return point.mark(_place(point, outer, x, y), values, told, glyph)


def _ceilings(
    bandwidths: Sequence[Roof], computes: Sequence[Roof], x: Scale, y: Scale, outer: _Outer
) -> tuple[Ceiling, ...]:
    """The lines of either kind, the highest first; one that would touch another is only listed."""
    found: list[Ceiling] = []
    for roofs in (bandwidths, computes):
        drawn: list[float] = []
        for roof in sorted(roofs, key=lambda roof: -roof.cited.value):
            value = roof.cited.value / outer.size
            # Where both lines meet those of the outer roof, and so end.
            if roofs is computes:
                left, right = (max(x.low, value / outer.slope), value), (x.high, value)
                height = y.position(value)
            else:
                start, end = max(x.low, y.low / value), min(x.high, outer.peak / value)
                left, right = (start, value * start), (end, value * end)
                height = y.position(value * x.low)
            if any(abs(height - other) < LINE_DISTANCE for other in drawn):
                found.append(Ceiling(roof, None))
                continue
            ends = (x.position(left[0]), y.position(left[1]))
            line = Segment(*ends, x.position(right[0]), y.position(right[1]))
            found.append(Ceiling(roof, line))
            drawn.append(height)
    return tuple(found)


def _labels(marks: Sequence[Mark], ceilings: Sequence[Ceiling]) -> tuple[Label, ...]:
    """First the numbers of the rounds, then the ceilings, each as long as there is room for."""
    placer = Placer(FRAME, marks)
    found = [*placer.numbers(marks)]
    for ceiling in ceilings:
        label = ceiling.line and placer.place(_along(ceiling.roof, ceiling.line))
        found += [label] if label else []
    across = FRAME.left + 10, FRAME.left + 180, FRAME.left + 360
    tops = [Label(at, FRAME.top + 18, ABOVE_ROOF, css="quiet") for at in across]
    label = placer.place(tops)
    return (*found, label) if label else tuple(found)


def _along(roof: Roof, line: Segment) -> list[Label]:
    """Where a ceiling's label may stand: in full above or below its line, then in brief."""
    angle = math.atan2(line.y2 - line.y1, line.x2 - line.x1)
    places = []
    for text in (roof.label, roof.brief):
        for along in ALONG:
            for by in (ABOVE, BELOW):
                # Away from the line at a right angle.
                x = line.x1 + (line.x2 - line.x1) * along - by * math.sin(angle)
                y = line.y1 + (line.y2 - line.y1) * along + by * math.cos(angle)
                at = round(x, 2), round(y, 2)
                turn = round(math.degrees(angle), 2)
                places.append(Label(*at, text, False, "end", turn, "ceiling-text", roof.cited.href))
    return places


def _forbidden(outer: _Outer, x: Scale, y: Scale) -> str:
    left = max(x.low, y.low / outer.slope)
    corners = [(left, outer.at(left)), (outer.ridge, outer.peak), (x.high, outer.peak)]
    corners += [(x.high, y.high), (x.low, y.high)]
    if left > x.low:
        corners.append((x.low, y.low))
    return _path(corners, x, y)


def _target(
    chosen: Sequence[Roof],
    fraction: float,
    kinds: tuple[Sequence[Roof], Sequence[Roof]],
    x: Scale,
    y: Scale,
    size: float,
) -> str:
    """The line of the target; "" where it would touch a ceiling."""
    slope, peak = (roof.cited.value / size * fraction for roof in chosen)
    left = max(x.low, y.low / slope)
    slopes, flats = ([roof.cited.value / size for roof in roofs] for roofs in kinds)
    gaps = [abs(y.position(peak) - y.position(flat)) for flat in flats]
    gaps += [abs(y.position(slope * left) - y.position(steep * left)) for steep in slopes]
    if min(gaps) < LINE_DISTANCE:
        return ""
    corners = [(left, slope * left), (peak / slope, peak), (x.high, peak)]
    return _path(corners, x, y)


def _path(corners: Sequence[Place], x: Scale, y: Scale) -> str:
    return " ".join(f"{x.position(a):g},{y.position(b):g}" for a, b in corners)
