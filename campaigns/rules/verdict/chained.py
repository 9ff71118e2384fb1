"""What the gains of a campaign's rounds come to together: their product, and times on one basis.

Gains are measured in pairs, so times derived from them can be compared; a round's own medians are
of one session, and another day of the host makes them longer or shorter. Each round was compared
with the incumbent of its time: a kernel that was fast when accepted and slower later makes its
successors seem better than they are, and only the product of gains shows this.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from campaigns.rules.noise.gain import Gain, geomean
from campaigns.rules.verdict.decision import VerdictWord as Word

CHAINED = "product of the rounds' intervals"
INVERSE = "1 / "


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
        " × ".join(g.name for g in gains),
    )


def excess(direct: Gain | None, gains: Sequence[Gain]) -> str:
    """That the product of gains exceeds the direct measurement; "" if it does not.

    direct: the last kernel against v0.
    """
    product = chained(gains)
    if direct is None or product is None or product.low <= direct.high:
        return ""
    return (
        f"The gains of the accepted rounds multiply to more than {direct.words} against v0, which "
        "was measured directly. An incumbent was slower in later comparisons than when it was "
        "accepted: check its source and the load of the host."
    )


def inverse(gain: Gain) -> Gain:
    """The same comparison with the arms swapped."""
    low, high = 1 / (1 + gain.high) - 1, 1 / (1 + gain.low) - 1
    name = gain.name.removeprefix(INVERSE) if gain.name.startswith(INVERSE) else INVERSE + gain.name
    return Gain(1 / (1 + gain.gain) - 1, low, high, gain.pairs, gain.kind, name)


Times = Mapping[str, float]
# Rounds that showed no gain, so no time of theirs is below that of their incumbent.
NOT_FASTER = (Word.NO_CHANGE, Word.REJECTED)


@dataclass(frozen=True, slots=True)
class PairedStep:
    """One round that was compared. ratio: time of the round `against` over its own; cases: each."""

    number: int
    against: int
    word: Word
    ratio: float
    cases: Times


def paired_times(v0: Times, steps: Sequence[PairedStep], total: float | None) -> dict[int, Times]:
    """Round → case → µs, on v0's measured times; rounds that prove no time (invalid) are left out.

    steps: ordered by number. total: the last accepted round over v0, measured side by side; None
    before that. Earlier accepted rounds are never faster than it.
    """
    last = max((step.number for step in steps if step.word is Word.ACCEPTED), default=None)
    speeds, found = {1: 1.0}, {1: v0}
    for step in steps:
        before = speeds.get(step.against)
        if before is None or step.word is Word.INVALID:
            continue
        speed = before * step.ratio
        if step.word in NOT_FASTER:
            speed = min(speed, before)
        if step.word is Word.ACCEPTED and total is not None:
            speed = total if step.number == last else min(speed, total)
        speeds[step.number], whole, times = speed, speed / before, found[step.against]
        # Each case by its own ratio, and all together by exactly `whole`.
        ratios, scale = dict.fromkeys(times, whole), 1.0
        if set(step.cases) == set(times):
            ratios, scale = dict(step.cases), geomean(step.cases.values()) / whole
        found[step.number] = {case: us / ratios[case] * scale for case, us in times.items()}
    return found
