"""A closed round as it stands in the search index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from django.urls import reverse

from campaigns.models import Campaign, Round, RoundState
from campaigns.records.rounds import StoredHypothesis, hypothesis_of
from campaigns.rules.verdict.decision import VerdictWord
from knowledge.models import Kind, WorkKind, project_of
from knowledge.search.index import Entry, remove, upsert
from knowledge.search.tokens import FAILED, WORKED

AT_ONCE = 500
# What a verdict says of the idea; the others leave it open.
OUTCOMES = {
    VerdictWord.ACCEPTED: WORKED,
    VerdictWord.NO_CHANGE: FAILED,
    VerdictWord.REJECTED: FAILED,
}


def all_rounds() -> Iterator[Entry]:
    """Every closed round that tried something."""
    rows = Round.objects.filter(state=RoundState.CLOSED, verdict__isnull=False).order_by("pk")
    related = ("campaign__problem", "campaign__platform", "verdict")
    for row in rows.select_related(*related).iterator(AT_ONCE):
        yield from round_rows(row)


def index_rounds(campaign: Campaign, rounds: Iterable[Round]) -> None:
    """Put rounds of a campaign into the index; what belongs to a project leaves it."""
    if project_of(WorkKind.CAMPAIGN, campaign.pk):
        remove((Kind.ROUND, str(row.pk)) for row in rounds)
    else:
        upsert(entry for row in rounds for entry in round_rows(row))


def round_rows(round_: Round) -> Iterator[Entry]:
    """A round with its hypothesis, its verdict and where it was tried; none of a baseline, and
    none of a sample."""
    campaign, verdict = round_.campaign, round_.verdict
    try:
        idea = hypothesis_of(round_)
    except msgspec.ValidationError:
        # A row of another version or of another's hand: what it came to can be found all the same.
        idea = StoredHypothesis(title=round_.title)
    if idea is None or campaign.is_sample:
        return
    problem, platform = campaign.problem, campaign.platform
    yield Entry(
        kind=Kind.ROUND,
        key=str(round_.pk),
        url=reverse("round", args=[campaign.pk, round_.number]),
        title=f"Round {round_.number} of {campaign.title}: {idea.title or idea.strategy}",
        body="\n".join(filter(None, (verdict.sentence, idea.change, idea.rationale))),
        facets={
            "op": problem.op,
            "dtype": problem.dtype,
            "backend": campaign.backend,
            "platform": platform.slug,
            "arch": platform.target,
            "strategy": idea.strategy,
            "outcome": OUTCOMES.get(VerdictWord(verdict.word), ""),
        },
        also=f"{problem.title} {verdict.reason} {' '.join(idea.evidence)}",
    )
