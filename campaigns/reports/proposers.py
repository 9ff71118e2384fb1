"""What each proposer of a campaign came to, and what was handed in and still waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from campaigns.models import Campaign, Round, RoundState, StandingWord, Submission
from campaigns.records.submissions import budgets_of, waiting_in
from campaigns.records.time_spent import device_s_by_round
from campaigns.reports.sheet import CampaignSheet
from campaigns.rules.stop.proposers import ProposerKind


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
        """Plain data."""
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


# A second session has shown the gain, and no other device has refuted it.
VERIFIED = (StandingWord.VERIFIED, StandingWord.REPRODUCED, StandingWord.UNTOLD)


@dataclass(frozen=True, slots=True)
class ProposerRow:
    """One kind of proposer. most: the most rounds it may have; None without a limit of its own.

    may_propose: False for one that has rounds all the same, such as a dispatch split. device_s:
    seconds of measuring within its rounds. counted: how many of its accepted rounds are verified.
    """

    kind: ProposerKind
    may_propose: bool
    most: int | None
    rounds: int
    accepted: int
    device_s: float
    counted: int

    @property
    def rounds_words(self) -> str:
        """ "3 of 5", "3", "1, may not propose"."""
        if not self.may_propose:
            return f"{self.rounds}, may not propose"
        return f"{self.rounds} of {self.most}" if self.most is not None else str(self.rounds)

    @property
    def words(self) -> str:
        """One line for a terminal."""
        return (
            f"{self.kind.words}: rounds {self.rounds_words}, accepted {self.accepted}, of them "
            f"verified {self.counted}, {self.device_s:.1f} device seconds"
        )

    @property
    def facts(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "kind": self.kind,
            "may_propose": self.may_propose,
            "most_rounds": self.most,
            "rounds": self.rounds,
            "accepted": self.accepted,
            "device_s": round(self.device_s, 3),
            "verified_rounds": self.counted,
        }


def proposer_rows(sheet: CampaignSheet, now: datetime) -> tuple[ProposerRow, ...]:
    """Every kind that may propose or has proposed; one query. The baseline is nobody's."""
    budgets = budgets_of(sheet.campaign)
    spent = device_s_by_round(sheet.campaign, now)
    found = []
    for kind in ProposerKind:
        rows = [row for row in sheet.rows if row.proposed_by.kind is kind]
        if kind not in budgets and not rows:
            continue
        found.append(
            ProposerRow(
                kind=kind,
                may_propose=kind in budgets,
                most=budgets.get(kind),
                rounds=len(rows),
                accepted=sum(row.is_kept for row in rows),
                device_s=sum(spent.get(row.round.pk, 0.0) for row in rows),
                counted=sum(row.is_kept and row.standing in VERIFIED for row in rows),
            )
        )
    return tuple(found)
