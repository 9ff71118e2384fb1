"""How sentences, charts and tables write numbers: few digits, one unit, never a bare sign."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from knowledge.experience.wording import digits as digits
from knowledge.experience.wording import factor as factor
from knowledge.experience.wording import faster as faster
from knowledge.experience.wording import gain_words as gain_words


class WordedEnum(StrEnum):
    """Members are (stored value, words for people); without words the value is read as such."""

    words: str

    def __new__(cls, value: str, words: str = "") -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.words = words or value.replace("_", " ")
        return member


class NamedNumber(float):
    """A number with its name, which pages write beside it: "time:round:7" is one value (law 9)."""

    name: str

    def __new__(cls, value: float, name: str = "") -> Self:
        number = super().__new__(cls, value)
        number.name = name
        return number


_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def signed(value: float, figures: int = 3) -> str:
    """The same with its sign: "+0.42", "−3.90"; nothing changed is "0"."""
    sign = "−" if value < 0 else "+" if value > 0 else ""
    return sign + digits(abs(value), figures)


def duration(value_us: float) -> str:
    """Write a duration given in microseconds: "34.3 µs", "1.25 ms", "2.00 s"."""
    if value_us >= 1e6:
        return f"{digits(value_us / 1e6)} s"
    if value_us >= 1e3:
        return f"{digits(value_us / 1e3)} ms"
    return f"{digits(value_us)} µs"


def known_duration(value_us: float | None, otherwise: str = "") -> str:
    """The same; `otherwise` for a time that is not known."""
    return duration(value_us) if value_us else otherwise


def minutes(value_s: float) -> str:
    """Write a duration given in seconds in whole minutes: "20"."""
    return f"{value_s / 60:.0f}"


def amount(value: float, unit: str) -> str:
    """Write a large quantity with a decimal prefix: "33.6 MB", "3.35 TB/s"."""
    size, prefix = next(((s, p) for s, p in _PREFIXES if abs(value) >= s), (1.0, ""))
    return f"{digits(value / size)} {prefix}{unit}"


def change(fraction: float) -> str:
    """Write a signed change given as a fraction: 0.052 is "+5.2 %"."""
    text = f"{fraction * 100:+.1f}"
    return f"{text.lstrip('+-') if float(text) == 0 else text} %"


def share(fraction: float) -> str:
    """Write an unsigned share given as a fraction: 0.9 is "90 %", 0.955 is "95.5 %"."""
    return f"{fraction * 100:.1f}".removesuffix(".0") + " %"


def as_claimed(figure: float | None, unit: str) -> str:
    """A figure of somebody else with its own unit: nothing is converted or rounded away."""
    return "no figure" if figure is None else f"{figure:.10g} {unit}".strip()


def time_words(gain: float, low: float, high: float) -> str:
    """Write what a gain does to the time, as its second line: "64 % less time"."""
    if low <= 0 <= high:
        return "no change shown"
    less = 1 - 1 / (1 + gain)
    places = 0 if abs(less) >= 0.1 else 1
    return f"{abs(less) * 100:.{places}f} % {'less' if less > 0 else 'more'} time"


def counted(number: int, noun: str) -> str:
    """Write a number with its noun: "1 burst", "2 bursts"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
