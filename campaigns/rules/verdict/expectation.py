"""What a verdict says of the hypothesis: whether it came true (R34), and what it teaches (R37).

Of findings that hypotheses rest on: how far they are trusted since (R26).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from campaigns.rules.noise.gain import Gain, improved, regressed
from campaigns.rules.verdict.decision import UNJUDGED, Reason, VerdictWord
from campaigns.rules.wording import change, share
from knowledge.experience.terms import AttemptLabel, label_of

# A prediction is confirmed from a quarter of it on, or if at most 1 % of the time is missing.
QUARTER, HUNDREDTH = 0.25, 0.01
# The metric as proposers name it; any other metric is not measured here.
TIMES, DOWN = frozenset(("time_us", "time per call")), "down"


class Borne(StrEnum):
    """The result of a prediction; the value is for people."""

    CONFIRMED = "confirmed"
    PARTLY = "partly confirmed"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


def least_wanted(amount: float) -> float:
    """The share of the time that must be saved to confirm `amount`, both as fractions."""
    return max(0.0, min(QUARTER * amount, amount - HUNDREDTH))


def saved_share(gain: float) -> float:
    """A gain in speed as the share of the time that it saves: 1.0 is 0.5."""
    return 1 - 1 / (1 + gain)


def borne_out(
    metric: str, direction: str, amount: float | None, gain: Gain | None, noise: float
) -> Borne:
    """Compare an expected change of `metric` with the gain over the incumbent.

    amount: the expected share of change; None if none was named. Undecided: nothing was compared,
    the metric was not measured, or the interval allows both answers.
    """
    if gain is None or metric not in TIMES or direction != DOWN:
        return Borne.UNDECIDED
    least = least_wanted(amount) if amount is not None else 0.0
    if improved(gain, noise):
        return Borne.CONFIRMED if saved_share(gain.gain) >= least else Borne.PARTLY
    possible = max(least, saved_share(noise))
    if regressed(gain, noise) or saved_share(gain.high) < possible:
        return Borne.REFUTED
    return Borne.UNDECIDED


# The candidate was wrong, or may not count: whatever it measured, it is no way to do it.
WRONG = frozenset(
    {
        Reason.WRONG_RESULT,
        Reason.BUILD_FAILED,
        Reason.CRASHED,
        Reason.TIMED_OUT,
        Reason.SANITIZER,
        Reason.CHEATED,
        Reason.ABOVE_ROOF,
        Reason.FINDING_REFUSED,
        Reason.NO_TRANSFER,
        Reason.FITTED,
    }
)
# These say nothing about any attempt.
SILENT = frozenset({Reason.BASELINE, *UNJUDGED})
# A cache or a trick that only a benchmark rewards.
TRICKS = frozenset({Reason.CHEATED, Reason.NO_TRANSFER, Reason.FITTED})


def taught(reason: Reason, gain: Gain | None, floor: float) -> AttemptLabel | None:
    """The label of a judged attempt; None where the verdict teaches nothing about it.

    floor: the noise floor that the verdict used. What was neither wrong nor measured teaches
    nothing, and what shows no change is a tie. A verdict that needs review is labelled by what was
    measured; see `is_decided`.
    """
    if reason in SILENT:
        return None
    if reason in WRONG:
        return AttemptLabel.INCORRECT
    if gain is None:
        return None
    word = reason.verdict
    if word is VerdictWord.NO_CHANGE:
        return AttemptLabel.TIE
    open_gain = word is VerdictWord.NEEDS_REVIEW and improved(gain, floor)
    faster = word is VerdictWord.ACCEPTED or open_gain
    return label_of(gain.gain, correct=True, faster=faster, floor=floor)


def is_decided(reason: Reason) -> bool:
    """Whether the verdict stands without a person; an undecided one must not guide machines."""
    return reason.verdict is not VerdictWord.NEEDS_REVIEW


# How the name begins by which a hypothesis cites a finding.
FINDING = "finding:"
# Cited so often and accepted never, a finding raises no idea any more.
LOST_AFTER = 4


@dataclass(frozen=True, slots=True)
class AdviceRecord:
    """Counts judged rounds that cite one finding.

    gain: the median over the `measured` ones, each against its own incumbent; 0.12 is 12 % faster.
    promised: the median of the share of the time that the finding could take at most; None where it
    told none.
    """

    rounds: int
    accepted: int
    measured: int = 0
    gain: float | None = None
    promised: float | None = None

    @property
    def is_lost(self) -> bool:
        return self.rounds >= LOST_AFTER and not self.accepted

    @property
    def words(self) -> str:
        """What was realised beside what was promised, for people."""
        told = [f"cited in {self.rounds} round{'s' * (self.rounds != 1)}, {self.accepted} accepted"]
        if self.gain is not None:
            against = f"against each incumbent, n={self.measured}"
            told.append(f"median {change(self.gain)} ({against})")
        if self.promised is not None:
            told.append(f"it promised at most {share(self.promised)} of the time")
        return ", ".join(told)
