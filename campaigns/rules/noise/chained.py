"""The product of a campaign's gains against the direct measurement of v0 and the last kernel.

Each round was compared with the incumbent of its time. A kernel that was fast when accepted and
slower later makes its successors seem better than they are; only the product of gains shows this.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from campaigns.rules.noise.gain import Gain

CHAINED = "product of the rounds' intervals"


def chained(gains: Sequence[Gain]) -> Gain | None:
    """The product of all gains; None if there are none."""
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
    """How far the product of gains exceeds the direct measurement; "" if it does not.

    direct: the last kernel against v0.
    """
    product = chained(gains)
    if direct is None or product is None or product.low <= direct.high:
        return ""
    return (
        f"The gains of the accepted rounds multiply to {product.words}, but measured directly the "
        f"last kernel is {direct.words} against v0. An incumbent was slower in later comparisons "
        "than when it was accepted: check its source and the load of the host."
    )


def inverse(gain: Gain) -> Gain:
    """The same comparison with the arms swapped."""
    low, high = 1 / (1 + gain.high) - 1, 1 / (1 + gain.low) - 1
    return Gain(1 / (1 + gain.gain) - 1, low, high, gain.pairs, gain.kind)
