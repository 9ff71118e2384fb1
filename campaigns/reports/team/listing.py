"""One line for each campaign of a list, with its best round, verdicts and course; a card for each
that runs; and which columns people choose from, for campaigns and for rounds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Max, QuerySet

from campaigns.charts.progress import Spark, spark
from campaigns.models import (
    Campaign,
    CampaignState,
    Evaluation,
    EvaluationState,
    Round,
    RoundState,
    Worker,
)
from campaigns.records.campaigns import target_of
from campaigns.records.device_waits import open_waits
from campaigns.records.verdicts import finals_of
from campaigns.reports.rows import Headline, RoundRow, kept_rows
from campaigns.reports.sheet import (
    WorkerHeartbeat,
    eta_basis,
    eta_of,
    heartbeat_at,
    phase_of,
)
from campaigns.rules.verdict.decision import VerdictWord
from knowledge.lookup.columns import columns_in

# Each has its cell in templates/campaigns/cells/. A campaign's number and title are always there.
CAMPAIGN_COLUMNS = columns_in(
    "campaigns/cells/campaign",
    ("op", "Operator"),
    ("backend", "Backend"),
    ("state", "State"),
    ("best", "Best, µs", "num"),
    ("share", "Share of its limit"),
    ("rounds", "Rounds judged", "num"),
    ("verdicts", "Verdicts"),
    ("changed", "Changed", "nowrap"),
    ("owner", "Owner"),
    ("+gain", "Gain over v0, 95 % interval", "whole"),
    ("+dtype", "Type"),
    ("+created", "Begun", "nowrap"),
)
# So are a round's number and hypothesis.
ROUND_COLUMNS = columns_in(
    "campaigns/cells/round",
    ("verdict", "Verdict"),
    ("gain", "Gain over the incumbent, 95 % interval", "whole"),
    ("time", "Time, µs", "num"),
    ("share", "Share of its limit"),
    ("candidates", "Candidates", "num"),
    ("took", "Took", "num"),
    ("+strategy", "Strategy"),
)
SHORT_ROUND_COLUMNS = ROUND_COLUMNS[:4]

Kept = Mapping[int, tuple[RoundRow, ...]]


@dataclass(frozen=True, slots=True)
class CampaignLine(Headline):
    """rounds: those with a verdict, as against the budget. tallies: word, its words, count.

    spark: the times of the accepted rounds, each of its own session.
    """

    campaign: Campaign
    tallies: list[tuple[str, str, int]]
    rounds: int
    spark: Spark | None


def campaign_lines(page: Sequence[Campaign], kept: Kept | None = None) -> list[CampaignLine]:
    """The campaigns in their order; three queries. kept: their `kept_rows` and maybe others'."""
    words: dict[int, Counter[str]] = defaultdict(Counter)
    rounds = Round.objects.filter(campaign__in=page)
    for campaign_id, word in rounds.values_list("campaign_id", "verdict__word"):
        words[campaign_id][word or VerdictWord.RUNNING] += 1
    kept, finals, lines = kept_rows(page) if kept is None else kept, finals_of(page), []
    for campaign in page:
        counts = words[campaign.pk]
        rows = kept.get(campaign.pk, ())
        best_round = campaign.incumbent.round_id if campaign.incumbent else None
        times = [row.time_us for row in rows if row.time_us]
        lines.append(
            CampaignLine(
                campaign=campaign,
                best=next((row for row in rows if row.round.pk == best_round), None),
                tallies=[(word, word.words, counts[word]) for word in VerdictWord],
                rounds=counts.total() - counts[VerdictWord.RUNNING],
                final=finals.get(campaign.pk),
                target=target_of(campaign),
                spark=spark(times),
            )
        )
    return lines


@dataclass(frozen=True, slots=True)
class RunningCard(Headline):
    """What the home page says of a running campaign; what the time left rests on, its own page."""

    campaign: Campaign
    phase: str
    heartbeat: WorkerHeartbeat | None
    eta_words: str


def running_cards(campaigns: Sequence[Campaign], kept: Kept, now: datetime) -> list[RunningCard]:
    """In their order; four queries, and two for each whose hours are limited."""
    rounds = defaultdict(list)
    columns = ("campaign", "number", "state", "submission", "opened_at", "closed_at")
    for row in Round.objects.filter(campaign__in=campaigns).order_by("number").only(*columns):
        rounds[row.campaign_id].append(row)
    busy = Evaluation.objects.filter(
        state=EvaluationState.RUNNING, candidate__round__campaign__in=campaigns
    )
    beats = _newest_beats(busy, "candidate__round__campaign")
    idle = _newest_beats(Worker.objects.all(), "platform")
    waits = {wait.campaign_id: wait for wait in open_waits().filter(campaign__in=campaigns)}
    cards = []
    for one in campaigns:
        own, beat = rounds[one.pk], beats.get(one.pk)
        took = [(r.closed_at - r.opened_at).total_seconds() for r in own if r.closed_at]
        eta = eta_of(one, took, now)
        best = kept.get(one.pk)
        heartbeat = heartbeat_at(beat, idle.get(one.platform_id), now)
        cards.append(
            RunningCard(
                campaign=one,
                phase=phase_of(
                    one,
                    heartbeat,
                    None if beat else waits.get(one.pk),
                    _awaited(one, own),
                    own[-1] if own else None,
                ),
                heartbeat=heartbeat,
                eta_words=eta.words if eta else eta_basis(one, eta, took),
                best=best[-1] if best else None,
                final=None,
                target=target_of(one),
            )
        )
    return cards


def _awaited(campaign: Campaign, rounds: Sequence[Round]) -> int | None:
    """The number of the open round that waits for who handed it in to mend it."""
    if campaign.state != CampaignState.REPAIR:
        return None
    open_ones = (row for row in rounds if row.submission_id and row.state != RoundState.CLOSED)
    return next((row.number for row in open_ones), None)


def _newest_beats(rows: QuerySet[Any], whose: str) -> dict[int, datetime]:
    """Key → the newest heartbeat; one query."""
    found = rows.order_by().values_list(whose).annotate(at=Max("heartbeat_at"))
    return {key: at for key, at in found if at}
