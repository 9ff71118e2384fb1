"""PURE: what every chart is made of: its frame, straight lines, the cells of its table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Frame:
    """The whole drawing and the plot area inside it, in SVG units."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float

    @property
    def view_box(self) -> str:
        """The value of the svg element's viewBox."""
        return f"0 0 {self.width:g} {self.height:g}"

    @property
    def middle_x(self) -> float:
        """Half way across the plot area."""
        return (self.left + self.right) / 2


@dataclass(frozen=True, slots=True)
class Segment:
    """A straight line."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Cell:
    """A table cell: what is shown, and the full value for its title and for exports."""

    text: str
    value: str = ""

    @property
    def plain(self) -> float | int | str | None:
        """The number with all its digits; a text where it has none; None for a dash."""
        if not self.value:
            return None if self.text == "–" else self.text
        found = float(self.value)
        return int(found) if found.is_integer() else found


def full(value: float | None) -> str:
    """Write a value with all the digits that matter, for data attributes and exports."""
    return "" if value is None else f"{value:.12g}"


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row: its name as a link, and its numbers."""

    name: str
    href: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class TableTwin:
    """columns: the heads, the name's first."""

    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]

    def records(self) -> Iterator[Mapping[str, Any]]:
        """Column → value with all its digits; empty where there is none."""
        for row in self.rows:
            values = (row.name, *(cell.plain for cell in row.cells))
            yield dict(zip(self.columns, values, strict=True))


def number(value: float | None, places: int = 1) -> Cell:
    """A number with its full value for exports; a dash where there is none."""
    return Cell("–") if value is None else Cell(f"{value:,.{places}f}", f"{value:.12g}")


def cut(text: str, most: int) -> str:
    """A label with at most so many characters."""
    return text if len(text) <= most else text[: most - 1] + "…"
