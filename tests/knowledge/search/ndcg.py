"""How good an order of answers is, next to the best order that there is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


def ndcg(answers: Sequence[str], grades: Mapping[str, int], at: int = 5) -> float:
    """Normalised discounted cumulative gain of the first answers, 0 to 1.

    An answer of grade g gains 2^g - 1, discounted by log2(1 + its place); one without a grade gains
    nothing, and neither does an answer that stands there a second time.
    """
    first = dict.fromkeys(answers)
    found = _discounted([grades.get(answer, 0) for answer in list(first)[:at]])
    best = _discounted(sorted(grades.values(), reverse=True)[:at])
    return found / best if best else 1.0


def _discounted(grades: Sequence[int]) -> float:
    return sum((2**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades))
