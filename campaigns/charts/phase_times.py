"""Where the time went: wall time and time of the device by phase of the campaign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from campaigns.charts.drawing import Axis, Bar, Drawing, column_of, row_labels
from campaigns.charts.marks import NoChart
from campaigns.rules.wording import digits
from knowledge.charts.frame import Cell, Frame, TableRow, TableTwin, full
from knowledge.charts.scale import Scale, ScaleKind, ticks_linear

WIDTH, LEFT, RIGHT, TOP, ROW, BELOW = 720, 150, 592, 16, 44, 62
THICK = 13.0
COLUMNS = ("Phase", "Times entered", "Wall time, s", "Device, s", "of that void, s")
# From so many seconds on a longer unit is easier to read.
UNITS = ((3600.0 * 3, "h", 3600.0), (180.0, "min", 60.0), (0.0, "s", 1.0))


@dataclass(frozen=True, slots=True)
class PhaseTime:
    """One phase: wall time and the time that a device measured in it. void_s: of the latter."""

    name: str
    entered: int
    wall_s: float
    device_s: float
    void_s: float = 0.0


@dataclass(frozen=True, slots=True)
class PhaseChart(Drawing):
    """longest: the phase with the most wall time. unit: of the axis, so many seconds long."""

    kind: ClassVar[str] = "phases"
    title: ClassVar[str] = "Where the time went"
    longest: PhaseTime | None = None
    wall_s: float = 0.0
    device_s: float = 0.0
    void_s: float = 0.0

    @property
    def longest_share(self) -> float:
        return self.longest.wall_s / self.wall_s if self.longest and self.wall_s else 0.0

    @property
    def device_share(self) -> float:
        return self.device_s / self.wall_s if self.wall_s else 0.0


def build(phases: Sequence[PhaseTime]) -> PhaseChart | NoChart:
    """Lay out the chart, in the order in which the phases were first entered."""
    if not phases:
        return NoChart(PhaseChart.kind, PhaseChart.title, "No phase of this campaign is recorded.")
    longest = max(phases, key=lambda phase: phase.wall_s)
    most_s = max(max(p.wall_s, p.device_s) for p in phases) or 1.0
    _, unit, size = next(row for row in UNITS if most_s >= row[0])
    bottom = TOP + ROW * len(phases)
    x = Scale(ScaleKind.LINEAR, 0, most_s / size * 1.03, LEFT, RIGHT)
    middles = [TOP + ROW * (at + 0.5) for at in range(len(phases))]
    bars = []
    for phase, y in zip(phases, middles, strict=True):
        words = f"{phase.name}: {digits(phase.wall_s / size)} {unit} of wall time"
        title = f"{words}, {digits(phase.device_s / size)} {unit} on the device"
        bars += [
            _bar(phase.wall_s / size, y - THICK - 1, x, "wall", title),
            _bar(phase.device_s / size, y + 1, x, "device", title),
            _bar(phase.void_s / size, y + 1, x, "void", title),
        ]
    shown = [f"{digits(phase.wall_s / size)} {unit}" for phase in phases]
    return PhaseChart(
        frame=Frame(WIDTH, bottom + BELOW, LEFT, RIGHT, TOP, bottom),
        table=TableTwin(COLUMNS, tuple(map(_row, phases))),
        drawn=len(phases),
        all=len(phases),
        x=Axis(f"wall time and device time, {unit}", ticks_linear(x, 6)),
        bars=tuple(bar for bar in bars if bar.width > 0),
        labels=(
            *row_labels(zip(middles, (phase.name for phase in phases), strict=True), LEFT - 10),
            *column_of(zip(middles, shown, strict=True), WIDTH - 6),
        ),
        longest=longest,
        wall_s=sum(phase.wall_s for phase in phases),
        device_s=sum(phase.device_s for phase in phases),
        void_s=sum(phase.void_s for phase in phases),
    )


def _bar(value: float, y: float, x: Scale, css: str, title: str) -> Bar:
    return Bar(LEFT, y, round(x.position(value) - LEFT, 2), THICK, css, title)


def _row(phase: PhaseTime) -> TableRow:
    cells = [Cell(str(phase.entered), str(phase.entered))]
    cells += [Cell(digits(v), full(v)) for v in (phase.wall_s, phase.device_s, phase.void_s)]
    return TableRow(phase.name, "", tuple(cells))
