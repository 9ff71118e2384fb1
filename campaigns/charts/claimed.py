"""The trend of claimed figures: what other systems claim for each attempt, without a verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from knowledge.charts.frame import Cell, Frame, TableRow, TableTwin, full
from knowledge.charts.scale import Scale, ScaleKind, Tick, outward_125, ticks_125, ticks_linear

FRAME = Frame(width=720, height=300, left=80, right=704, top=34, bottom=244)
LOG_FROM = 10
FEWEST = 6
KEPT = {True: "kept", False: "not kept", None: "not stated"}


@dataclass(frozen=True, slots=True)
class ClaimedPoint:
    """One attempt of a trail. kept, masked: None if not stated."""

    ordinal: int
    name: str
    figure: float
    kept: bool | None
    masked: bool | None


@dataclass(frozen=True, slots=True)
class ClaimedChart:
    """Geometry; `templates/campaigns/charts/claimed.svg` draws it. dots: points with x and y."""

    kind: ClassVar[str] = "claimed"
    title: ClassVar[str] = "Trend of what is claimed"
    template: ClassVar[str] = "campaigns/charts/claimed.svg"
    frame: Frame
    table: TableTwin
    unit: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    dots: tuple[tuple[ClaimedPoint, float, float], ...]

    @property
    def all(self) -> int:
        return len(self.dots)

    drawn = all


def build(
    points: Sequence[ClaimedPoint], unit: str, link: Callable[[int], str]
) -> ClaimedChart | None:
    """Lay out the attempts that claim a figure, in their order; None where none does.

    link: number of an attempt → its address.
    """
    if not points:
        return None
    last = max(FEWEST, *(point.ordinal for point in points))
    x = Scale(ScaleKind.LINEAR, 0.5, last + 0.5, FRAME.left, FRAME.right)
    figures = [point.figure for point in points]
    low, high = min(figures), max(figures)
    if low > 0 and high / low > LOG_FROM:
        y = Scale(ScaleKind.LOG, *outward_125(low, high), FRAME.bottom, FRAME.top)
        ticks = ticks_125(y)
    else:
        room = (high - low) * 0.1 or abs(high) * 0.1 or 1.0
        y = Scale(ScaleKind.LINEAR, low - room, high + room, FRAME.bottom, FRAME.top)
        ticks = ticks_linear(y)
    return ClaimedChart(
        frame=FRAME,
        table=TableTwin(
            ("Attempt", "Number", f"Claimed, {unit}".rstrip(", "), "Kept"),
            tuple(
                TableRow(
                    p.name,
                    link(p.ordinal),
                    (
                        Cell(str(p.ordinal), str(p.ordinal)),
                        Cell(f"{p.figure:g}", full(p.figure)),
                        Cell(KEPT[p.kept]),
                    ),
                )
                for p in points
            ),
        ),
        unit=unit,
        x_ticks=tuple(tick for tick in ticks_linear(x, 8) if tick.value == int(tick.value)),
        y_ticks=ticks,
        dots=tuple((p, x.position(p.ordinal), y.position(p.figure)) for p in points),
    )
