"""Find the first accepted round from which on the kernel is slower, in log2 measurements (R58).

As `git bisect` does: the good end is believed, the middle of what is left is measured, and a round
that can not be told is skipped, which may leave more than one suspect.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from campaigns.rules.noise.gain import Gain


class BisectAnswer(StrEnum):
    """Whether one round is slower than the good one by more than the limit."""

    BETTER = "better"
    WORSE = "worse"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class BisectProbe:
    """One measured round. gain: against the good one; None where `why` says it was not timed."""

    round: int
    answer: BisectAnswer
    gain: Gain | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class BisectResult:
    """suspects: one round, or several where some are unclear; empty where the last is not slower.

    good: the last round before them that is not slower.
    """

    good: int
    suspects: tuple[int, ...]
    looks: tuple[BisectProbe, ...]


def answer_of(gains: Sequence[Gain], limit: float) -> BisectAnswer:
    """What the intervals of one round say. gains: by each clock that timed it; they have to agree.

    limit: a fraction; with 0.03 a round is worse when it is more than 3 % slower.
    """
    if gains and all(gain.high < -limit for gain in gains):
        return BisectAnswer.WORSE
    if gains and all(gain.low >= -limit for gain in gains):
        return BisectAnswer.BETTER
    return BisectAnswer.UNCLEAR


def bisect(rounds: Sequence[int], measure: Callable[[int], BisectProbe]) -> BisectResult:
    """Search the accepted rounds, from the good one to the bad one, in order.

    The bad end is measured first: where it is not worse, there is nothing to look for. Raises
    ValueError with fewer than two rounds.
    """
    if len(rounds) < 2:
        raise ValueError(f"rounds: {list(rounds)}; accepted: a good one and later ones")
    looks = [measure(rounds[-1])]
    if looks[0].answer is not BisectAnswer.WORSE:
        return BisectResult(rounds[0], (), tuple(looks))
    good, bad = 0, len(rounds) - 1
    unclear: set[int] = set()
    while left := [at for at in range(good + 1, bad) if at not in unclear]:
        middle = min(left, key=lambda at: abs(2 * at - good - bad))
        look = measure(rounds[middle])
        looks.append(look)
        if look.answer is BisectAnswer.WORSE:
            bad = middle
        elif look.answer is BisectAnswer.BETTER:
            good = middle
        else:
            unclear.add(middle)
    return BisectResult(rounds[good], tuple(rounds[good + 1 : bad + 1]), tuple(looks))
