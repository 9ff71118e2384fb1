"""The geometric mean, the only mean for ratios (R14)."""

from __future__ import annotations

import math
from collections.abc import Iterable


def geomean(values: Iterable[float]) -> float:
    """Return the geometric mean of positive numbers. Raises ValueError when there are none."""
    logs = [math.log(value) for value in values]
    if not logs:
        raise ValueError("geomean: needs at least one value")
    return math.exp(math.fsum(logs) / len(logs))
