"""The gains of a campaign's rounds, one after the other, against v0 and the last kernel at once.

Each round was held against the incumbent of its time. A kernel that was quick when it was accepted
and is slow from some day on makes those after it look good; only their product shows it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from campaigns.rules.noise.gain import Gain

CHAINED = "product of the rounds' intervals"


def chained(gains: Sequence[Gain]) -> Gain | None:
    """All of them one after the other; None of none."""
    if len(gains) < 2:
        return gains[0] if gains else None
    return Gain(
        math.prod(1 + g.gain for g in gains) - 1,
        math.prod(1 + g.low for g in gains) - 1,
        math.prod(1 + g.high for g in gains) - 1,
        min(g.pairs for g in gains),
        CHAINED,
    )


def excess(direct: Gain | None, gains: Sequence[Gain]) -> str:
    """How far the rounds' gains go beyond what was measured side by side; "" where they do not.

    direct: the last kernel against v0.
    """
    product = chained(gains)
    if direct is None or product is None or product.low <= direct.high:
        return ""
    return (
        f"The gains of the accepted rounds come to {product.words}, but side by side the last "
        f"kernel is {direct.words} against v0. Some incumbent was slower when others were held "
        "against it than when it was accepted: look at its source, and at what else the host did."
    )


def inverse(gain: Gain) -> Gain:
    """The same comparison the other way round."""
    low, high = 1 / (1 + gain.high) - 1, 1 / (1 + gain.low) - 1
    return Gain(1 / (1 + gain.gain) - 1, low, high, gain.pairs, gain.kind)
