"""A sparkline: the course of a few times at a glance, without axes; the numbers stand beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, EDGE = 96, 24, 3
LEAST_POINTS = 2


@dataclass(frozen=True, slots=True)
class Spark:
    """points: as an SVG polyline takes them. x, y: of the last one. first, last: the values."""

    points: str
    x: float
    y: float
    first: float
    last: float
    width: int = WIDTH
    height: int = HEIGHT


def spark(values: Sequence[float]) -> Spark | None:
    """The values from left to right, zero at the bottom; None for fewer than two."""
    if len(values) < LEAST_POINTS:
        return None
    top = max(values)
    step = (WIDTH - 2 * EDGE) / (len(values) - 1)
    places = [
        (EDGE + at * step, HEIGHT - EDGE - value / top * (HEIGHT - 2 * EDGE))
        for at, value in enumerate(values)
    ]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return Spark(points, *places[-1], first=values[0], last=values[-1])
