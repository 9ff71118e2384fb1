"""PURE: what every chart is made of: its frame, straight lines, the cells of its table."""

from __future__ import annotations

from dataclasses import dataclass


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


def full(value: float | None) -> str:
    """Write a value with all the digits that matter, for data attributes and exports."""
    return "" if value is None else f"{value:.12g}"
