"""What became of a candidate that was handed in, for page, command and API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.models import Campaign, Round, RoundState, Submission
from campaigns.records.submissions import waiting_in


@dataclass(frozen=True, slots=True)
class SubmissionSheet:
    """round: the one that tries it, None so far. ahead: how many are tried before it.

    open_round: the number of the round that is open now; None where none is.
    """

    submission: Submission
    round: Round | None
    ahead: int
    open_round: int | None

    @property
    def is_over(self) -> bool:
        """Whether it will never be tried: its campaign ended first."""
        return self.round is None and self.submission.campaign.is_finished

    @property
    def words(self) -> str:
        """Where it stands, in one sentence."""
        if self.round is not None:
            return f"It is round {self.round.number}."
        if self.is_over:
            why = self.submission.campaign.stop_sentence
            return f"It was not tried, as the campaign ended first. {why}"
        if self.ahead:
            return (
                f"It waits: {self.ahead} more {'is' if self.ahead == 1 else 'are'} tried before it."
            )
        if self.open_round is not None:
            return f"It is tried next, as soon as round {self.open_round} is closed."
        return "It is tried next."

    @property
    def facts(self) -> dict[str, Any]:
        """As data."""
        handed = self.submission
        return {
            "campaign": handed.campaign_id,
            "submission": handed.pk,
            "title": handed.title,
            "proposer": {"kind": handed.kind, "name": handed.name},
            "round": self.round.number if self.round else None,
            "waits": self.round is None and not self.is_over,
            "words": self.words,
        }


def submission_sheet(submission: Submission) -> SubmissionSheet:
    """Three queries."""
    campaign = submission.campaign
    ahead = waiting_in(campaign).filter(pk__lt=submission.pk).count()
    return SubmissionSheet(submission, submission.rounds.first(), ahead, _open_round(campaign))


def waiting_sheets(campaign: Campaign) -> Sequence[SubmissionSheet]:
    """Everything that waits, in the order in which it is tried. Two queries."""
    waiting = list(waiting_in(campaign))
    open_round = _open_round(campaign) if waiting else None
    return [SubmissionSheet(one, None, ahead, open_round) for ahead, one in enumerate(waiting)]


def _open_round(campaign: Campaign) -> int | None:
    found = campaign.rounds.exclude(state=RoundState.CLOSED).values_list("number", flat=True)
    return found.first()
