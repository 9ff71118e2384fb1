"""What was handed in to a campaign, and how many rounds each kind of proposer has had."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from campaigns.models import Campaign, CampaignState, Evaluation, Round, RoundState, Submission
from campaigns.records.campaigns import stop_policy_of
from campaigns.records.evaluations import deciding_evaluation, judged_candidate
from campaigns.rules.stop.ladder import MOST_REPAIRS
from campaigns.rules.stop.proposers import USUAL, ProposerKind, read_budgets, rounds_left
from campaigns.rules.verdict.decision import Reason


def budgets_of(campaign: Campaign) -> dict[ProposerKind, int | None]:
    """Who may propose, and the most rounds of each; an old row says nothing, and has the usual."""
    return read_budgets(USUAL if campaign.proposers is None else campaign.proposers)


def waiting_in(campaign: Campaign) -> QuerySet[Submission]:
    """What no round has tried yet, in the order in which it is tried."""
    return campaign.submissions.filter(rounds=None).order_by("pk")


def rounds_used(campaign: Campaign) -> Counter[ProposerKind]:
    """The rounds that each kind has had, without the baseline. Two queries.

    What waits counts as well. A round that a broken host spoilt does not (law 8).
    """
    tried = campaign.rounds.filter(number__gt=1).exclude(verdict__reason=Reason.BROKEN_HOST)
    kinds = [
        kind or ProposerKind.SEARCH for kind in tried.values_list("submission__kind", flat=True)
    ]
    return Counter(
        map(ProposerKind, [*kinds, *waiting_in(campaign).values_list("kind", flat=True)])
    )


def takes_candidates(campaign: Campaign) -> bool:
    """Whether people may look for what to hand in now; `closed_to` knows it exactly. No query."""
    return not not_now(campaign) and ProposerKind.PERSON in budgets_of(campaign)


def takes_later(campaign: Campaign) -> bool:
    """Whether people may hand in once its baseline is judged. No query."""
    waits = campaign.incumbent_id is None and not campaign.is_finished
    return waits and ProposerKind.PERSON in budgets_of(campaign)


def closed_to(campaign: Campaign, kind: ProposerKind) -> str:
    """Why nothing of this kind can be handed in now, whatever it is; "" where it can."""
    if why := not_now(campaign):
        return why
    left = open_proposers(campaign)
    if kind not in left:
        return f"takes nothing from {kind.several}; its proposers: {', '.join(left)}"
    if not left[kind]:
        return f"all {rounds_used(campaign)[kind]} rounds for {kind.several} are used or taken"
    return no_round_left(campaign)


def no_round_left(campaign: Campaign) -> str:
    """Why it may have no further round, whoever asks for it; "" where it may."""
    most = stop_policy_of(campaign).max_rounds
    taken = campaign.rounds.count() + waiting_in(campaign).count()
    return f"all {most} rounds are used or taken" if taken >= most else ""


def not_now(campaign: Campaign) -> str:
    """Why nothing can be handed in by its state; "" where something can. No query."""
    if campaign.is_finished or campaign.state == CampaignState.REPORT:
        return f"is {campaign.doing}; it takes no candidate any more"
    if campaign.stop_requested:
        return "is being stopped; it takes no candidate any more"
    if campaign.incumbent_id is None:
        return (
            f"is {campaign.doing}; accepted once its baseline, round 1, is judged: a hypothesis "
            "rests on what was measured"
        )
    return ""


def open_proposers(campaign: Campaign) -> dict[ProposerKind, bool]:
    """Kind → whether it may have another round, for each that may propose at all."""
    return rounds_left(budgets_of(campaign), rounds_used(campaign))


@dataclass(frozen=True, slots=True)
class AwaitedRepair:
    """A round that waits for whoever handed it in to mend its candidate (R17).

    failed: what went wrong. left: how many repairs its round may still have.
    """

    round: Round
    failed: Evaluation
    left: int

    @property
    def words(self) -> str:
        """What was wrong, and how many repairs are left; without a full stop."""
        wrong = f"{self.failed.outcome.replace('_', ' ')}: {self.failed.reason.rstrip('.')}"
        left = "1 repair is" if self.left == 1 else f"{self.left} repairs are"
        return f"round {self.round.number} waits for a repair: {wrong}; {left} left"

    @property
    def facts(self) -> dict[str, Any]:
        """Plain data."""
        told = {"outcome": self.failed.outcome, "reason": self.failed.reason}
        return {"round": self.round.number, **told, "left": self.left, "words": self.words}


def awaited_repair(campaign: Campaign) -> AwaitedRepair | None:
    """None where the open round waits for none, or its search mends it; at most four queries."""
    if campaign.state != CampaignState.REPAIR:
        return None
    open_ones = campaign.rounds.exclude(state=RoundState.CLOSED).exclude(submission=None)
    round_ = open_ones.select_related("submission").first()
    if round_ is None:
        return None
    failed = deciding_evaluation(judged_candidate(round_))
    return AwaitedRepair(round_, failed, MOST_REPAIRS - round_.repairs.count())
