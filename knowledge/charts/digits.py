"""PURE: numbers with few digits, as charts, tables and sentences write them."""

from __future__ import annotations

import math


def digits(value: float, figures: int = 3) -> str:
    """Write a number with so many significant figures and never with an exponent: 34.3, 0.0042."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    rounded = float(f"{value:.{figures - 1}e}")
    places = max(0, figures - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{places}f}"
