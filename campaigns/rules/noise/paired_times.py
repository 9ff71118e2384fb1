"""One basis for every time on a page: v0's measured time over the paired gains since.

A round's own medians are of one session, and another day of the host makes them longer or shorter.
Gains are measured in pairs, so times derived from them can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from campaigns.rules.noise.means import geomean
from campaigns.rules.verdict.decision import VerdictWord as Word

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
        speeds[step.number] = speed
        found[step.number] = _faster(found[step.against], step.cases, speed / before)
    return found


def _faster(before: Times, ratios: Times, whole: float) -> Times:
    """Each case by its own ratio, and all together by exactly `whole`."""
    if set(ratios) != set(before):
        return {case: time / whole for case, time in before.items()}
    scale = geomean(ratios.values()) / whole
    return {case: time / ratios[case] * scale for case, time in before.items()}
