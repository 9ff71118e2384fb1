"""How many people have to look at a gain, and where a round stands by what they said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from campaigns.rules.verdict.decision import VerdictWord

APPROVED, RETURNED, INVALID, RERUN = "approved", "returned", "invalid", "rerun"


@dataclass(frozen=True, slots=True)
class ReviewPolicy:
    """alone_below: a smaller gain needs nobody. two_above: a gain from here on needs two people.

    Both as fractions: 0.1 is 10 % faster, 1.0 twice as fast.
    """

    alone_below: float = 0.10
    two_above: float = 1.0


def people_needed(gain: float | None, *, waived: bool, policy: ReviewPolicy) -> int:
    """How many people have to approve a gain: 0, 1 or 2. gain: None where none was measured.

    waived: whether a gate that usually holds was let go for it; two people look then.
    """
    if waived or (gain is not None and gain >= policy.two_above):
        return 2
    return 1 if gain is not None and gain >= policy.alone_below else 0


def needed_for_round(word: str, gain: float | None, *, waived: bool, policy: ReviewPolicy) -> int:
    """The same for a verdict: an accepted gain by its size, what needs review one person.

    Every other verdict stands by itself.
    """
    if word == VerdictWord.ACCEPTED:
        return people_needed(gain, waived=waived, policy=policy)
    return 1 if word == VerdictWord.NEEDS_REVIEW else 0


def needed_for_result(gain: float | None, of_rounds: Sequence[int], policy: ReviewPolicy) -> int:
    """The most that any accepted round needs, and one at least from the lower limit on."""
    own = 1 if gain is not None and gain >= policy.alone_below else 0
    return max([own, *of_rounds])


class ReviewState(StrEnum):
    """Where something stands that people decide about."""

    OPEN = "open"
    AUTOMATIC = "automatic"
    APPROVED = "approved"
    RETURNED = "returned"
    INVALID = "invalid"
    RERUN = "rerun"

    @property
    def words(self) -> str:
        """Words for people."""
        return _WORDS[self]


_WORDS = {
    ReviewState.OPEN: "waits for a decision",
    ReviewState.AUTOMATIC: "needs no person",
    ReviewState.APPROVED: "approved",
    ReviewState.RETURNED: "returned to its author",
    ReviewState.INVALID: "marked invalid",
    ReviewState.RERUN: "a re-run is asked for",
}


@dataclass(frozen=True, slots=True)
class ReviewStanding:
    """The state, and how many of the people that are needed have approved.

    needed: 0 where nobody has to, or nobody may.
    """

    state: ReviewState
    approvals: int
    needed: int

    @property
    def waits(self) -> bool:
        """Whether people still have to decide."""
        return self.state is ReviewState.OPEN

    @property
    def words(self) -> str:
        """Such as "waits for a decision, 1 of 2 approvals"."""
        shown = self.state in (ReviewState.OPEN, ReviewState.APPROVED) and self.needed
        if not shown:
            return self.state.words
        several = "s" if self.needed > 1 else ""
        return f"{self.state.words}, {self.approvals} of {self.needed} approval{several}"

    @property
    def asks(self) -> str:
        """What the people who look at it are asked for."""
        if not self.needed:
            return "an answer: the judge could not accept it"
        left = self.needed - self.approvals
        return f"approval by {left} more" if self.approvals else f"approval by {left}"


# The first of these that anybody says counts, whoever else approves.
AGAINST = (
    (INVALID, ReviewState.INVALID),
    (RERUN, ReviewState.RERUN),
    (RETURNED, ReviewState.RETURNED),
)


def standing(needed: int, words: Sequence[str], *, may_approve: bool = True) -> ReviewStanding:
    """Where it stands. words: what counts of each person, one each.

    may_approve: whether an approval is among its `choices`; else people say what follows instead.
    """
    approvals = words.count(APPROVED) if may_approve else 0
    shown = needed if may_approve else 0
    for word, state in AGAINST:
        if word in words:
            return ReviewStanding(state, approvals, shown)
    if needed == 0 and not approvals:
        return ReviewStanding(ReviewState.AUTOMATIC, 0, 0)
    done = may_approve and approvals >= needed
    return ReviewStanding(ReviewState.APPROVED if done else ReviewState.OPEN, approvals, shown)


def choices(word: str | None) -> tuple[str, ...]:
    """What may be said of a round with this verdict; None: of a campaign's result.

    Nobody makes an acceptance of what the judge did not accept (laws 5 and 6), and only a round is
    measured again.
    """
    if word is None:
        return (APPROVED, RETURNED, INVALID)
    against = (RETURNED, INVALID, RERUN)
    return (APPROVED, *against) if word == VerdictWord.ACCEPTED else against
