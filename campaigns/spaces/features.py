"""Encodes a point as numbers for a model that learns from trials."""

from __future__ import annotations

from math import log2

from campaigns.evaluator.contract import Param
from campaigns.spaces.space import Knob, Point, Space

# What stands for 0, "left to the compiler", among logarithms.
LEFT = -1.0


def features(space: Space, point: Point) -> list[float]:
    """The point as numbers, knob by knob, as many for each point of a space.

    Powers of two by their logarithm, other numbers as they are, anything else one-hot.
    """
    return [number for knob in space.knobs for number in _encoded(knob, point[knob.name])]


def _encoded(knob: Knob, value: Param) -> list[float]:
    numbers = [n for n in knob.values if isinstance(n, int | float)]
    if len(numbers) < len(knob.values):
        return [float(value == one) for one in knob.values]
    number = float(value)
    if all(_is_power(n) or n == 0 for n in numbers) and not isinstance(value, bool):
        return [log2(number) if number else LEFT]
    return [number]


def _is_power(number: float) -> bool:
    return number > 0 and log2(number).is_integer()
