"""PURE: what a verdict teaches about the attempt that it judges (R37; law 8)."""

from __future__ import annotations

from campaigns.rules.noise.gain import Gain, improved
from campaigns.rules.verdict.decision import UNJUDGED, VERDICT_OF, Reason, VerdictWord
from knowledge.experience.terms import AttemptLabel, label_of

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
    nothing. A verdict that needs review is labelled by what was measured; see `is_decided`.
    """
    if reason in SILENT:
        return None
    if reason in WRONG:
        return AttemptLabel.INCORRECT
    if gain is None:
        return None
    word = VERDICT_OF[reason]
    open_gain = word is VerdictWord.NEEDS_REVIEW and improved(gain, floor)
    faster = word is VerdictWord.ACCEPTED or open_gain
    return label_of(gain.gain, correct=True, faster=faster, floor=floor)


def is_decided(reason: Reason) -> bool:
    """Whether the verdict stands without a person; an undecided one must not guide machines."""
    return VERDICT_OF[reason] is not VerdictWord.NEEDS_REVIEW
