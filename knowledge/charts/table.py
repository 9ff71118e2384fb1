"""PURE: the table twin of a chart, which its CSV is written from too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from knowledge.charts.frame import Cell


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
            values = (_value(cell) for cell in row.cells)
            yield dict(zip(self.columns, (row.name, *values), strict=True))


def number(value: float | None, places: int = 1) -> Cell:
    """A number with its full value for exports; a dash where there is none."""
    return Cell("–") if value is None else Cell(f"{value:,.{places}f}", f"{value:.12g}")


def _value(cell: Cell) -> float | int | str | None:
    if not cell.value:
        return None
    found = float(cell.value)
    return int(found) if found.is_integer() else found


def cut(text: str, most: int) -> str:
    """A label with at most so many characters."""
    return text if len(text) <= most else text[: most - 1] + "…"
