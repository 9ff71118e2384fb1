"""PURE: where does what we try work? Share of attempts that worked, by platform and operation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.charts.frame import Frame, TableRow, TableTwin, cut, number

COLUMNS = ("Platform and operation", "Worked, %", "Worked", "Tried")
WIDTH, LEFT, TOP, HEIGHT, BELOW = 720, 156, 74, 34, 8
WIDEST = 96
MOST_ROWS, MOST_COLUMNS = 12, 8
WIDE, NARROW = 22, 13  # characters of a label, on a screen and on a phone
STEPS = 5
FEW = 5  # attempts; a share of fewer says little


@dataclass(frozen=True, slots=True)
class HeatPoint:
    """The attempts of one operation on one platform."""

    platform: str
    op: str
    tried: int
    worked: int
    href: str

    @property
    def share(self) -> float:
        return self.worked / self.tried


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One cell. step: 0 to 4, how strong its colour is."""

    point: HeatPoint
    x: float
    y: float
    step: int

    @property
    def text(self) -> str:
        return f"{self.point.share:.0%}".replace("%", " %")

    @property
    def title(self) -> str:
        p = self.point
        return f"{p.op} on {p.platform}: {p.worked} of {p.tried} attempts worked"


@dataclass(frozen=True, slots=True)
class HeatLabel:
    """A row's or a column's name; short: where letters are large."""

    at: float
    text: str
    short: str


@dataclass(frozen=True, slots=True)
class HeatChart:
    """Geometry; `templates/knowledge/charts/heatmap.svg` draws it."""

    kind: str
    title: str
    frame: Frame
    cell_width: float
    cell_height: float
    rows: tuple[HeatLabel, ...]
    columns: tuple[HeatLabel, ...]
    cells: tuple[HeatCell, ...]
    caption: str
    table: TableTwin

    @property
    def half_width(self) -> float:
        """The x at which the text of a cell is centred."""
        return round(self.cell_width / 2, 2)

    @property
    def baseline(self) -> float:
        """The y of the text of a cell."""
        return round(self.cell_height / 2 + 5, 2)


def build(points: Sequence[HeatPoint], title: str) -> HeatChart | None:
    """Lay out the platforms and operations with the most attempts; None without any."""
    if not points:
        return None
    rows = _most([(p.platform, p.tried) for p in points], MOST_ROWS)
    columns = _most([(p.op, p.tried) for p in points], MOST_COLUMNS)
    width = min(WIDEST, (WIDTH - LEFT) / len(columns))
    bottom = TOP + HEIGHT * len(rows)
    shown = [p for p in points if p.platform in rows and p.op in columns]
    return HeatChart(
        kind="heatmap",
        title=title,
        frame=Frame(WIDTH, bottom + BELOW, LEFT, LEFT + width * len(columns), TOP, bottom),
        cell_width=width - 2,
        cell_height=HEIGHT - 2,
        rows=tuple(_label(name, TOP + HEIGHT * (i + 0.5)) for i, name in enumerate(rows)),
        columns=tuple(_label(name, LEFT + width * (i + 0.5)) for i, name in enumerate(columns)),
        cells=tuple(
            HeatCell(
                point=p,
                x=round(LEFT + width * columns.index(p.op), 2),
                y=TOP + HEIGHT * rows.index(p.platform),
                step=min(STEPS - 1, int(p.share * STEPS)),
            )
            for p in shown
        ),
        caption=_caption(points) + _left_out(points, len(shown)),
        table=TableTwin(COLUMNS, tuple(map(_row, sorted(points, key=_order)))),
    )


def _most(counts: Sequence[tuple[str, int]], most: int) -> list[str]:
    """The names with the most attempts, then in alphabetical order."""
    total: Counter[str] = Counter()
    for name, tried in counts:
        total[name] += tried
    return sorted(name for name, _ in total.most_common(most))


def _label(name: str, at: float) -> HeatLabel:
    return HeatLabel(round(at, 2), cut(name, WIDE), cut(name, NARROW))


def _caption(points: Sequence[HeatPoint]) -> str:
    told = [p for p in points if p.tried >= FEW]
    everything, good = sum(p.tried for p in points), sum(p.worked for p in points)
    words = f"{good:,} of {everything:,} attempts worked ({good / everything:.0%})."
    if len(told) > 1:
        best, worst = max(told, key=lambda p: p.share), min(told, key=lambda p: p.share)
        words += f" Most often {_place(best)}, least often {_place(worst)}"
        words += f" (of places with {FEW} attempts or more)."
    return words.replace("%)", " %)")


def _place(point: HeatPoint) -> str:
    return f"{point.op} on {point.platform}, {point.worked} of {point.tried}"


def _left_out(points: Sequence[HeatPoint], shown: int) -> str:
    more = len(points) - shown
    return f" {more} more places are in the table." if more else ""


def _order(point: HeatPoint) -> tuple[str, str]:
    return point.platform, point.op


def _row(point: HeatPoint) -> TableRow:
    cells = (number(point.share * 100), number(point.worked, 0), number(point.tried, 0))
    return TableRow(f"{point.platform} {point.op}", point.href, cells)
