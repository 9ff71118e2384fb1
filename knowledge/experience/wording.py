"""PURE: gains and their spread over attempts, as numbers and in words."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

Z_95 = 1.96


def digits(value: float, figures: int = 3) -> str:
    """Write a number with so many significant figures and never with an exponent: 34.3, 0.0042."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    rounded = float(f"{value:.{figures - 1}e}")
    places = max(0, figures - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{places}f}"


def faster(gain: float) -> str:
    """Write a gain as a factor: 1.75 is "2.75× faster", −0.2 is "1.25× slower"."""
    ratio = factor(max(1 + gain, 1 / (1 + gain)))
    return f"{ratio}× " + ("faster" if gain > 0 else "slower" if gain < 0 else "as fast")


def gain_words(gain: float | None, low: float | None = None, high: float | None = None) -> str:
    """Write a gain with its interval, in the one form of all pages and sentences.

    "2.75× faster [2.10, 3.99]", "1.20× slower [1.10, 1.31]"; where the interval holds "no change"
    neither is claimed: "1.002× as fast [0.998, 1.006]". Without one: "1.12× faster, no interval".
    """
    if gain is None:
        return "not measured"
    if low is None or high is None:
        return f"{faster(gain)}, no interval"
    if low > 0 or high < 0:
        ends = (1 + low, 1 + high) if low > 0 else (1 / (1 + high), 1 / (1 + low))
        told = faster(gain)
    else:
        ends, told = (1 + low, 1 + high), f"{factor(1 + gain)}× as fast"
    return f"{told} [{factor(ends[0])}, {factor(ends[1])}]"


def signed_percent(fraction: float) -> str:
    """Write a change in per cent: "+12.3", "−0.9"; what rounds to nothing is "0.0"."""
    text = f"{abs(fraction) * 100:,.1f}"
    if float(text.replace(",", "")) == 0:
        return text
    return f"{'−' if fraction < 0 else '+'}{text}"


def factor(ratio: float) -> str:
    """Three figures, and near one the third place behind it, where small gains differ."""
    return f"{ratio:.3f}" if abs(round(ratio, 3) - 1) < 0.1 else digits(ratio)


@dataclass(frozen=True, slots=True)
class GainSpread:
    """n gains, 0.05 is 5 %. median: None without any; low, high: of one alone its own interval."""

    n: int = 0
    median: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def words(self) -> str:
        return gain_words(self.median, self.low, self.high)


NONE_MEASURED = GainSpread()


# A gain with its own interval, where there is one.
OneGain = tuple[float, float | None, float | None]


def spread_of(gains: Iterable[OneGain]) -> GainSpread:
    """The median gain with the order statistics that hold it 95 times of 100; see `ranks`."""
    found = list(gains)
    n, rising = len(found), sorted(gain for gain, _, _ in found)
    if n < 2:
        return GainSpread(n, *(found[0] if found else ()))
    middle, low, high = ranks(n)
    return GainSpread(n, rising[middle], rising[low], rising[high])


def ranks(n: int) -> tuple[int, int, int]:
    """The ranks, from 0, of the lower median of n values and of its 95 % interval.

    By the binomial's normal approximation; below six values it is the whole range, which holds the
    median less often than that.
    """
    middle = (n - 1) // 2
    if n < 6:
        return middle, 0, n - 1
    reach = Z_95 * math.sqrt(n) / 2
    return middle, max(0, math.floor(n / 2 - reach)), min(n - 1, math.ceil(n / 2 + reach) - 1)
