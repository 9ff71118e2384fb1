"""The review queue: rounds and results beside what waits in the wiki, the oldest first.

Nothing of an archived campaign waits in it, and nothing of a sample."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import OuterRef, Subquery
from django.urls import reverse

from campaigns.models import Campaign, Event, ReviewDecision, Round, RoundState, Verdict
from campaigns.models.campaign import at_work
from campaigns.models.transitions import FINISHED
from campaigns.records.campaigns import result_of, stored_result
from campaigns.records.decisions import (
    MAY_DECIDE,
    Waivers,
    laxer,
    owners_of_result,
    review_policy,
    said_by_subject,
)
from campaigns.records.rounds import proposed_by
from campaigns.records.series import owners_of_entry, waiting_series
from campaigns.records.verdicts import gain_of
from campaigns.rules.noise.gain import Gain
from campaigns.rules.review import standing as review
from campaigns.rules.verdict.decision import VerdictWord
from knowledge.curation.people import may_review
from knowledge.lookup.waiting import (
    Rows,
    Waiting,
    WaitingKind,
    WaitingRow,
    marks_in_wiki,
    rows_in_wiki,
    waiting_in_wiki,
)

# What tells whose the best kernel of a campaign is.
OF_ITS_BEST = ("incumbent__round__number", "incumbent__round__submission__by")
OURS = (WaitingKind.ROUND, WaitingKind.RESULT, WaitingKind.SERIES)
DECIDABLE = (VerdictWord.ACCEPTED, VerdictWord.NEEDS_REVIEW)


@dataclass(frozen=True, slots=True)
class ReviewQueue:
    """Everything that waits, and what of it waits for one person."""

    waiting: tuple[Waiting, ...]
    mine: tuple[Waiting, ...]

    def counts(self, *, mine: bool) -> list[tuple[WaitingKind, int]]:
        """How many of each kind wait."""
        found = Counter(one.kind for one in (self.mine if mine else self.waiting))
        return [(kind, found[kind]) for kind in WaitingKind]

    def of(self, kind: str, *, mine: bool) -> list[Waiting]:
        """Items of one kind; of all kinds for ""."""
        rows = self.mine if mine else self.waiting
        return [one for one in rows if kind in ("", one.kind)]


def review_queue(person: Any) -> ReviewQueue:
    """The queue as this person finds it; a fixed number of queries."""
    found = waiting_in_all()
    allowed = dict.fromkeys(OURS, person.has_perm(MAY_DECIDE))
    reviews = may_review(person)
    mine = (one for one in found if allowed.get(one.kind, reviews) and person.pk not in one.not_for)
    return ReviewQueue(tuple(found), tuple(mine))


def waiting_in_all() -> list[Waiting]:
    """Everything that waits for anybody, the oldest first."""
    return sorted([*_ours(), *waiting_in_wiki()], key=lambda one: (one.since, one.kind, one.key))


def queue_mark(person: Any) -> str:
    """Changes whenever what waits for this person may have changed; one query."""
    User = get_user_model()
    roles = User.groups.through.objects.filter(user=OuterRef("pk")).order_by("-pk")
    newest = (model.objects.order_by("-pk") for model in (Event, ReviewDecision))
    marks = [*(Subquery(rows.values("pk")[:1]) for rows in (*newest, roles)), *marks_in_wiki()]
    row = User.objects.filter(pk=person.pk).values_list("pk", "is_superuser", *marks).get()
    return "-".join(str(int(mark or 0)) for mark in row)


def rows_of_queue(waiting: Sequence[Waiting]) -> list[WaitingRow]:
    """What a page says of these, in their order."""
    ours = {one.key: one for one in waiting if one.kind is WaitingKind.ROUND}
    results = {one.key: one for one in waiting if one.kind is WaitingKind.RESULT}
    series = {one.key: one for one in waiting if one.kind is WaitingKind.SERIES}
    found: Rows = {
        **rows_in_wiki(one for one in waiting if one.kind not in OURS),
        **{(WaitingKind.ROUND, row.waiting.key): row for row in _round_rows(ours)},
        **{(WaitingKind.RESULT, row.waiting.key): row for row in _result_rows(results)},
        **{(WaitingKind.SERIES, row.waiting.key): row for row in _series_rows(series)},
    }
    keys = ((one.kind, one.key) for one in waiting)
    return [found[key] for key in keys if key in found]


@dataclass(frozen=True, slots=True)
class _Judged:
    """What decides whether a round waits. authors: whose own it is."""

    key: int
    campaign: int
    word: str
    gain: float | None
    at: datetime
    authors: frozenset[int]


def _ours() -> Iterable[Waiting]:
    """Rounds, then results, then what moved when it was measured again."""
    said = said_by_subject(ReviewDecision.objects.counting())
    policy, waived, needs = review_policy(), _waived_rounds(), defaultdict(list)
    for row in _judged():
        lax = waived(row)
        needed = review.needed_for_round(row.word, row.gain, waived=lax, policy=policy)
        accepted = row.word == VerdictWord.ACCEPTED
        if accepted:
            needs[row.campaign].append(needed)
        words = said.get((row.campaign, row.key), {})
        stands = review.standing(needed, [*words.values()], may_approve=accepted)
        if stands.waits:
            people = row.authors | frozenset(words)
            yield Waiting(row.at, WaitingKind.ROUND, row.key, people, stands.asks)
    rows = Campaign.objects.at_work().filter(state__in=FINISHED, incumbent__round__number__gt=1)
    joined = rows.select_related("incumbent__round__submission")
    for campaign in joined.only("result", "finished_at", "created_by", *OF_ITS_BEST):
        gain = stored_result(campaign).gain
        needed = review.needed_for_result(gain, needs[campaign.pk], policy)
        words = said.get((campaign.pk, None), {})
        stands = review.standing(needed, [*words.values()])
        if campaign.finished_at and campaign.incumbent and stands.waits:
            people = owners_of_result(campaign, campaign.incumbent) | frozenset(words)
            yield Waiting(
                campaign.finished_at, WaitingKind.RESULT, campaign.pk, people, stands.asks
            )
    for one in waiting_series():
        entry, people = one.entry, owners_of_entry(one.entry)
        yield Waiting(
            entry.at, WaitingKind.SERIES, entry.pk, people, f"an answer: {one.sort.words}"
        )


def _judged() -> Iterable[_Judged]:
    rows = Verdict.objects.filter(
        at_work("round__campaign__"),
        word__in=DECIDABLE,
        round__number__gt=1,
        round__state=RoundState.CLOSED,
    )
    columns = ("round", "round__campaign", "word", "gain", "decided_at", "round__submission",
               "round__submission__by", "round__campaign__created_by")  # fmt: skip
    for key, campaign, word, gain, at, handed, by, creator in rows.order_by().values_list(*columns):
        owner = by if handed else creator
        authors: frozenset[int] = frozenset() if owner is None else frozenset({owner})
        yield _Judged(key, campaign, word, gain, at, authors)


def _waived_rounds() -> Any:
    """A test of whether a gate was let go for a judged round; two queries, or three."""
    waivers = Waivers.of()
    rows = Campaign.objects.filter(findings_policy__isnull=False).only("backend", "findings_policy")
    light = {row.pk: kinds for row in rows if (kinds := laxer(row))}
    let_go: set[int] = set()
    if light:
        found = Round.objects.filter(campaign__in=light, verdict__word=VerdictWord.ACCEPTED)
        columns = ("pk", "campaign", "chosen__findings")
        for key, campaign, findings in found.order_by().values_list(*columns):
            if light[campaign] & {each["kind"] for each in findings or ()}:
                let_go.add(key)
    return lambda row: (
        row.campaign in waivers.assumed or row.key in waivers.relied or row.key in let_go
    )


def _round_rows(waiting: Mapping[int, Waiting]) -> Iterable[WaitingRow]:
    rows = Round.objects.filter(pk__in=waiting).select_related(
        "campaign__created_by", "submission", "verdict", "against__round"
    )
    for row in rows.defer("against__text"):
        gain, against = gain_of(row.verdict), row.against.round.number if row.against else 1
        shown = _words(gain, f"round {against}") if gain else "no gain measured"
        is_best = row.chosen_id == row.campaign.incumbent_id
        yield WaitingRow(
            waiting[row.pk],
            f"Round {row.number}: {row.title}",
            reverse("round", args=[row.campaign_id, row.number]),
            waiting[row.pk].asks,
            proposed_by(row).name or str(row.campaign.created_by or "a command"),
            f"{row.campaign.title}: {shown}{'; the incumbent' if is_best else ''}",
        )


def _result_rows(waiting: Mapping[int, Waiting]) -> Iterable[WaitingRow]:
    rows = Campaign.objects.filter(pk__in=waiting).select_related("created_by", "platform")
    for row in rows:
        gain = result_of(row)
        shown = _words(gain, "v0") if gain else "not compared with v0"
        yield WaitingRow(
            waiting[row.pk],
            f"Result of {row.title}",
            reverse("campaign", args=[row.pk]),
            waiting[row.pk].asks,
            str(row.created_by or "a command"),
            f"{row.platform.name}: {shown}",
        )


def _series_rows(waiting: Mapping[int, Waiting]) -> Iterable[WaitingRow]:
    for one in waiting_series() if waiting else ():
        entry = one.entry
        if entry.pk not in waiting:
            continue
        number, campaign = entry.round.number if entry.round else 0, entry.campaign
        yield WaitingRow(
            waiting[entry.pk],
            f"Measured again: round {number} of {campaign.title}",
            reverse("series_entry", args=[campaign.pk, entry.pk]),
            waiting[entry.pk].asks,
            str(campaign.created_by or "a command"),
            entry.sentence,
        )


def _words(gain: Gain, baseline: str) -> str:
    """With its interval, baseline and count (law 9); how intervals are made is said elsewhere."""
    return f"{gain.words} against {baseline}, n={gain.pairs} pairs"
