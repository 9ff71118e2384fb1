"""What there is to decide about a round or a campaign's result, by whom, and what was decided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.urls import reverse

from campaigns.models import (
    Answer,
    Campaign,
    Candidate,
    DecisionWord,
    Event,
    Placeholder,
    ReviewDecision,
    Round,
    StandingAnswer,
)
from campaigns.models.decision import newest_of_each
from campaigns.records.campaigns import stored_result
from campaigns.records.findings import policy_of
from campaigns.rules.review import standing as review
from campaigns.rules.review.standing import ReviewPolicy, ReviewStanding
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.rules.verdict.finding_kinds import FindingKind, Stance, default_policy

MAY_DECIDE = "campaigns.review_round"
MAY_RERUN = "campaigns.change_campaign"
NO_ROLE = "Deciding needs the role engineer, curator or lead."
OWN = "You proposed it, so another person decides."
STRICTNESS = tuple(Stance)


def review_policy() -> ReviewPolicy:
    """How many people look at a gain here, by the settings."""
    return ReviewPolicy(settings.KOPT_REVIEW_ALONE_BELOW, settings.KOPT_REVIEW_TWO_ABOVE)


@dataclass(frozen=True, slots=True)
class Reviewed:
    """Something that people decide about.

    round, word: of a round with its verdict; None for the campaign's result. authors: keys of the
    people whose own it is. waived: which gates were let go, in words. log: all that was decided.
    """

    campaign: Campaign
    round: Round | None
    word: str | None
    gain: float | None
    authors: frozenset[int]
    waived: tuple[str, ...]
    needed: int
    log: tuple[ReviewDecision, ...]

    @property
    def counting(self) -> list[ReviewDecision]:
        """Keep each person's decision that counts now."""
        undone = {row.undoes_id for row in self.log}
        return newest_of_each(
            row for row in self.log if row.word != DecisionWord.UNDONE and row.pk not in undone
        )

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that may be said of it."""
        return review.choices(self.word)

    @property
    def standing(self) -> ReviewStanding:
        words = [row.word for row in self.counting]
        may_approve = review.APPROVED in self.choices
        return review.standing(self.needed, words, may_approve=may_approve)

    @property
    def seen(self) -> int:
        """The key of the newest decision; 0 where there is none."""
        return self.log[-1].pk if self.log else 0

    @property
    def name(self) -> str:
        """Such as "round 3 of campaign 12", or "the result of campaign 12"."""
        if self.round is None:
            return f"the result of campaign {self.campaign.pk}"
        return f"round {self.round.number} of campaign {self.campaign.pk}"

    @property
    def url(self) -> str:
        """Its page."""
        if self.round is None:
            return reverse("campaign", args=[self.campaign.pk])
        return reverse("round", args=[self.campaign.pk, self.round.number])

    @property
    def is_incumbent(self) -> bool:
        """Whether a round's kernel is what the campaign measures against."""
        return self.round is not None and self.round.chosen_id == self.campaign.incumbent_id

    def refusal(self, person: Any) -> str:
        """Why this person may not decide about it, in a sentence; "" where they may."""
        if not person.has_perm(MAY_DECIDE):
            return NO_ROLE
        return OWN if person.pk in self.authors else ""


def reviewed_round(round_: Round) -> Reviewed | None:
    """The same for a round; None for a baseline, of a sample, and before there is a verdict.

    Two queries.
    """
    verdict, campaign = getattr(round_, "verdict", None), round_.campaign
    if verdict is None or round_.number == 1 or campaign.is_sample:
        return None
    waived: list[str] = []
    if verdict.word == VerdictWord.ACCEPTED:
        waived = _waived(round_, Waivers.of([campaign.pk]), round_.chosen)
    needed = review.needed_for_round(
        verdict.word, verdict.gain, waived=bool(waived), policy=review_policy()
    )
    authors = author_of(round_, campaign)
    log = _log(campaign, round_)
    return Reviewed(
        campaign, round_, verdict.word, verdict.gain, authors, tuple(waived), needed, log
    )


def reviewed_result(campaign: Campaign) -> Reviewed | None:
    """The same for a finished campaign whose incumbent is not v0; else None, as for a sample."""
    best = campaign.incumbent
    if campaign.is_sample or not campaign.is_finished or best is None or best.round.number == 1:
        return None
    rounds = campaign.rounds.filter(verdict__word=VerdictWord.ACCEPTED, number__gt=1)
    waivers, policy = Waivers.of([campaign.pk]), review_policy()
    found = [
        (_waived(row, waivers, row.chosen), row.verdict.gain)
        for row in rounds.select_related("verdict", "chosen").only(
            "number", "campaign", "verdict__gain", "chosen__findings"
        )
    ]
    needs = [
        review.people_needed(gain, waived=bool(waived), policy=policy) for waived, gain in found
    ]
    gain = stored_result(campaign).gain
    waived = tuple(dict.fromkeys(words for some, _ in found for words in some))
    authors = owners_of_result(campaign, best)
    needed = review.needed_for_result(gain, needs, policy)
    return Reviewed(campaign, None, None, gain, authors, waived, needed, _log(campaign, None))


def author_of(round_: Round, campaign: Campaign) -> frozenset[int]:
    """Whose a round is: of who handed it in, else of who started the campaign."""
    handed = round_.submission
    return _known(campaign.created_by_id if handed is None else handed.by_id)


def owners_of_result(campaign: Campaign, best: Candidate) -> frozenset[int]:
    """Names of who started the campaign and of who submitted its best kernel."""
    handed = best.round.submission
    return _known(campaign.created_by_id, handed.by_id if handed else None)


def _known(*keys: int | None) -> frozenset[int]:
    return frozenset(key for key in keys if key is not None)


def _log(campaign: Campaign, round_: Round | None) -> tuple[ReviewDecision, ...]:
    rows = ReviewDecision.objects.filter(campaign=campaign, round=round_)
    return tuple(rows.select_related("by").order_by("pk"))


@dataclass(frozen=True, slots=True)
class Waivers:
    """What people let go in some campaigns. assumed: with a placeholder for a ceiling.

    relied: keys of rounds that another device did not show, and that are relied on all the same.
    """

    assumed: frozenset[int]
    relied: frozenset[int]

    @classmethod
    def of(cls, campaigns: Collection[int] | None = None) -> Waivers:
        """Read those of these campaigns, or of all; one query."""
        rows = Event.objects.filter(kind__in=(Placeholder.KIND, StandingAnswer.KIND))
        if campaigns is not None:
            rows = rows.filter(campaign__in=campaigns)
        found = list(rows.order_by().values_list("kind", "campaign_id", "round_id", "data__answer"))
        return cls(
            frozenset(campaign for kind, campaign, _, _ in found if kind == Placeholder.KIND),
            frozenset(key for _, _, key, answer in found if key and answer == Answer.RELIED_ON),
        )


def _waived(round_: Round, waivers: Waivers, chosen: Candidate | None) -> list[str]:
    """Which gates were let go for an accepted round, each in a few words."""
    campaign, found = round_.campaign, []
    if campaign.pk in waivers.assumed:
        found.append("a ceiling is assumed")
    if round_.pk in waivers.relied:
        found.append("another device did not show it")
    let_go = laxer(campaign)
    if let_go and chosen is not None:
        kinds = {row["kind"] for row in chosen.findings or ()}
        found += [f"{kind.words} is allowed here" for kind in FindingKind if kind in kinds & let_go]
    return found


def laxer(campaign: Campaign) -> frozenset[str]:
    """The kinds of findings that this campaign takes more lightly than its backend's usual policy.

    None in a campaign of before there was a policy.
    """
    if campaign.findings_policy is None:
        return frozenset()
    usual = default_policy(campaign.backend)
    own = policy_of(campaign)
    lighter = (k for k in FindingKind if STRICTNESS.index(own[k]) < STRICTNESS.index(usual[k]))
    return frozenset(kind.value for kind in lighter)


def said_by_subject(
    rows: Iterable[ReviewDecision],
) -> Mapping[tuple[int, int | None], dict[int, str]]:
    """(campaign, round or None) → person → the word that counts."""
    found: dict[tuple[int, int | None], dict[int, str]] = defaultdict(dict)
    for row in rows:
        found[row.campaign_id, row.round_id][row.by_id] = row.word
    return found
