"""Linear and logarithmic axes: values to positions, and the ticks that people can read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from knowledge.experience.wording import digits

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


class ScaleKind(StrEnum):
    """How values map to positions."""

    LINEAR = "linear"
    LOG = "log"


@dataclass(frozen=True, slots=True)
class Tick:
    """One mark on an axis. minor: may be left out where there is little room."""

    value: float
    position: float
    text: str
    minor: bool = False


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps low..high to start..end (in SVG units; end may be the smaller, as on a y axis)."""

    kind: ScaleKind
    low: float
    high: float
    start: float
    end: float

    def __post_init__(self) -> None:
        if not self.low < self.high or (self.kind is ScaleKind.LOG and self.low <= 0):
            raise ValueError(
                f"{self.kind} scale {self.low!r}..{self.high!r}: empty or not positive"
            )

    def position(self, value: float) -> float:
        """Place a value, rounded to a hundredth of a unit."""
        if self.kind is ScaleKind.LOG:
            part = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return round(self.start + part * (self.end - self.start), 2)

    def holds(self, value: float) -> bool:
        """Say whether a value lies on the axis."""
        return self.low * (1 - 1e-9) <= value <= self.high * (1 + 1e-9)


def ticks_125(scale: Scale, spacing: float = 15) -> tuple[Tick, ...]:
    """Ticks at 1, 2, 5 times powers of ten; only the ones where they would stand too close."""
    first, last = math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high))
    decade = abs(scale.position(scale.low * 10) - scale.position(scale.low))
    heads = (1, 2, 5) if decade * math.log10(2) >= spacing else (1,)
    values = (head * 10.0**power for power in range(first, last + 1) for head in heads)
    return _ticks(scale, values, lambda value: not f"{value:e}".startswith("1"))


def ticks_of_two(scale: Scale, spacing: float = 44) -> tuple[Tick, ...]:
    """Ticks at powers of two, every second or fourth where they would stand too close."""
    first, last = math.floor(math.log2(scale.low)), math.ceil(math.log2(scale.high))
    octave = abs(scale.position(scale.low * 2) - scale.position(scale.low))
    step = max(1, math.ceil(spacing / octave))
    marks = {2.0**power: index for index, power in enumerate(range(first, last + 1, step))}
    return _ticks(scale, marks, lambda value: marks[value] % 2 == 1)


def ticks_linear(scale: Scale, wanted: int = 6) -> tuple[Tick, ...]:
    """About so many ticks at round values."""
    step = nice_step((scale.high - scale.low) / wanted)
    first = math.ceil(scale.low / step - 1e-9)
    last = math.floor(scale.high / step + 1e-9)
    marks = {index * step: index for index in range(first, last + 1)}
    return _ticks(scale, marks, lambda value: marks[value] % 2 == 1)


def nice_step(raw: float) -> float:
    """Round a step up to 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(raw))
    return next(step * power for step in _STEPS if step * power >= raw * (1 - 1e-9))


def outward_125(low: float, high: float) -> tuple[float, float]:
    """Widen a positive range to 1-2-5 values, so that no point sits beyond the last tick."""
    return 1 / _up_125(1 / low), _up_125(high)


def outward_two(low: float, high: float) -> tuple[float, float]:
    """Widen a positive range to powers of two."""
    return 2.0 ** math.floor(math.log2(low)), 2.0 ** math.ceil(math.log2(high))


def _up_125(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return next(
        head * power for head in (1.0, 2.0, 5.0, 10.0) if head * power >= value * (1 - 1e-9)
    )


def _ticks(
    scale: Scale, values: Iterable[float], is_minor: Callable[[float], bool]
) -> tuple[Tick, ...]:
    return tuple(
        Tick(value, scale.position(value), tick_text(value), is_minor(value))
        for value in values
        if scale.holds(value)
    )


def tick_text(value: float) -> str:
    """Write a tick with no more digits than it needs."""
    text = digits(value, 4)
    return text.rstrip("0").rstrip(".") if "." in text else text
