"""Find the first accepted round with the slower kernel, in about log2(rounds) measurements (R58).

This works like `git bisect`: the good end is trusted, the middle of the remaining rounds is
measured, and an unclear round is skipped, which may leave more than one suspect.
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
    """One measured round. gain: against the good one; None if it was not timed (`why` says why)."""

    round: int
    answer: BisectAnswer
    gain: Gain | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class BisectResult:
    """suspects: one round, or several if some are unclear; empty if the last round is not slower.

    good: the last round before them that is not slower.
    """

    good: int
    suspects: tuple[int, ...]
    probes: tuple[BisectProbe, ...]


def answer_of(gains: Sequence[Gain], limit: float) -> BisectAnswer:
    """Classify one round. gains: one per clock that timed it; they must agree.

    limit: a fraction; with 0.03 a round is worse when it is more than 3 % slower.
    """
    if gains and all(gain.high < -limit for gain in gains):
        return BisectAnswer.WORSE
    if gains and all(gain.low >= -limit for gain in gains):
        return BisectAnswer.BETTER
    return BisectAnswer.UNCLEAR


def bisect(rounds: Sequence[int], measure: Callable[[int], BisectProbe]) -> BisectResult:
    """Search the accepted rounds, from the good one to the bad one, in order.

    The bad end is measured first: if it is not worse, the search ends. Raises
    ValueError with fewer than two rounds.
    """
    if len(rounds) < 2:
        raise ValueError(f"rounds: {list(rounds)}; accepted: a good one and later ones")
    probes = [measure(rounds[-1])]
    if probes[0].answer is not BisectAnswer.WORSE:
        return BisectResult(rounds[0], (), tuple(probes))
    good, bad = 0, len(rounds) - 1
    unclear: set[int] = set()
    while left := [at for at in range(good + 1, bad) if at not in unclear]:
        middle = min(left, key=lambda at: abs(2 * at - good - bad))
        probe = measure(rounds[middle])
        probes.append(probe)
        if probe.answer is BisectAnswer.WORSE:
            bad = middle
        elif probe.answer is BisectAnswer.BETTER:
            good = middle
        else:
            unclear.add(middle)
    return BisectResult(rounds[good], tuple(rounds[good + 1 : bad + 1]), tuple(probes))
