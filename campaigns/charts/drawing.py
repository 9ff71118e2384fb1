"""A chart in parts that one template draws: axes, lines, bars, marks and texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from campaigns.charts.labels import Label
from campaigns.charts.marks import Mark
from knowledge.charts.frame import Frame, TableTwin
from knowledge.charts.scale import Tick


@dataclass(frozen=True, slots=True)
class Line:
    """A path with the class that paints it."""

    css: str
    path: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A filled area; a link with a name where it has an address."""

    x: float
    y: float
    width: float
    height: float
    css: str
    title: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class Spot:
    """A point that is no round, as a link with a name."""

    x: float
    y: float
    href: str
    title: str


@dataclass(frozen=True, slots=True)
class Axis:
    """Ticks with their grid lines, and a title with the unit."""

    title: str = ""
    ticks: tuple[Tick, ...] = ()


@dataclass(frozen=True, slots=True)
class Drawing:
    """What `templates/campaigns/charts/drawing.svg` draws. drawn, all: how many rows it shows."""

    kind: ClassVar[str]
    title: ClassVar[str]
    template: ClassVar[str] = "campaigns/charts/drawing.svg"
    frame: Frame
    table: TableTwin
    drawn: int
    all: int
    x: Axis = Axis()
    y: Axis = Axis()
    lines: tuple[Line, ...] = ()
    bars: tuple[Bar, ...] = ()
    marks: tuple[Mark, ...] = ()
    spots: tuple[Spot, ...] = ()
    labels: tuple[Label, ...] = ()


def steps(places: Sequence[tuple[float, float]]) -> str:
    """A path through places."""
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in places) if places else ""


def across(y: float, frame: Frame) -> str:
    """A path over the whole width of the plot."""
    return f"M{frame.left:g} {y:g}H{frame.right:g}"


def row_labels(texts: Iterable[tuple[float, str]], x: float) -> tuple[Label, ...]:
    """Names of rows that end at x, in the middle of their height."""
    return tuple(Label(x, y + 4, text, anchor="end", css="tick") for y, text in texts)


def column_of(values: Iterable[tuple[float, str]], x: float) -> tuple[Label, ...]:
    """Numbers of rows below each other, their ends at x."""
    return tuple(Label(x, y + 4, text, anchor="end", css="value") for y, text in values)
