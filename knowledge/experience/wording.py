"""PURE: how every page, sentence and table writes a gain."""

from __future__ import annotations

from knowledge.charts.digits import digits


def faster(gain: float) -> str:
    """Write a gain as a factor: 1.75 is "2.75× faster", −0.2 is "1.25× slower"."""
    ratio = _factor(max(1 + gain, 1 / (1 + gain)))
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
        ends, told = (1 + low, 1 + high), f"{_factor(1 + gain)}× as fast"
    return f"{told} [{_factor(ends[0])}, {_factor(ends[1])}]"


def signed_percent(fraction: float) -> str:
    """Write a change in per cent: "+12.3", "−0.9"; what rounds to nothing is "0.0"."""
    text = f"{abs(fraction) * 100:,.1f}"
    if float(text.replace(",", "")) == 0:
        return text
    return f"{'−' if fraction < 0 else '+'}{text}"


def _factor(ratio: float) -> str:
    """Three figures, and near one the third place behind it, where small gains differ."""
    return f"{ratio:.3f}" if abs(round(ratio, 3) - 1) < 0.1 else digits(ratio)
