"""Which attempts a partial restart hides from the proposer (R40)."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable

FRACTION = 0.5


def masked(attempts: Iterable[int], protected: Collection[int], seed: int) -> tuple[int, ...]:
    """About half of the attempts' round numbers, drawn by the seed; never a protected one.

    protected: the baseline and the incumbent.
    """
    eligible = sorted(set(attempts) - set(protected))
    count = round(FRACTION * len(eligible) + 0.25)
    return tuple(sorted(random.Random(seed).sample(eligible, count)))
