"""PURE: how every page, sentence and table of experience writes a gain."""

from __future__ import annotations


def gain_words(gain: float | None, low: float | None = None, high: float | None = None) -> str:
    """Write a gain with its interval in per cent; 0.05 is 5 % faster.

    "12.3 % faster [10.1, 14.0]", "8.0 % slower [6.5, 9.1]". An interval that holds zero claims
    neither: "no change shown, +0.4 % [−0.9, +1.8]". Without one: "12.3 % faster, no interval".
    """
    if gain is None:
        return "not measured"
    if low is None or high is None:
        return f"{_direction(gain)}, no interval"
    if low <= 0 <= high:
        ends = f"{signed_percent(low)}, {signed_percent(high)}"
        return f"no change shown, {signed_percent(gain)} % [{ends}]"
    near, far = sorted((abs(low), abs(high)))
    return f"{_direction(gain)} [{percent(near)}, {percent(far)}]"


def percent(fraction: float) -> str:
    """Write a share of one in per cent, without its sign: 0.123 is "12.3"."""
    return f"{abs(fraction) * 100:,.1f}"


def signed_percent(fraction: float) -> str:
    """The same with its sign: "+12.3", "−0.9"; what rounds to nothing is "0.0"."""
    text = percent(fraction)
    if float(text.replace(",", "")) == 0:
        return text
    return f"{'−' if fraction < 0 else '+'}{text}"


def _direction(gain: float) -> str:
    text = percent(gain)
    if float(text.replace(",", "")) == 0:
        return "as fast"
    return f"{text} % {'faster' if gain > 0 else 'slower'}"
