"""One line for each campaign of a list: its best round, its verdicts and its course."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from campaigns.charts.spark import Spark, spark
from campaigns.models import Campaign, Round
from campaigns.records.campaigns import result_of, target_of
from campaigns.reports.rows import RoundRow, rows_of
from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.decision import VerdictWord


@dataclass(frozen=True, slots=True)
class CampaignLine:
    """best: of the incumbent's round. rounds: those with a verdict, as against the budget.

    tallies: word, its words, count. total: over v0, once measured side by side. spark: the times of
    the accepted rounds.
    """

    campaign: Campaign
    best: RoundRow | None
    tallies: list[tuple[str, str, int]]
    rounds: int
    total: Gain | None
    spark: Spark | None


def campaign_lines(page: Sequence[Campaign]) -> list[CampaignLine]:
    """The campaigns in their order; two queries."""
    words: dict[int, Counter[str]] = defaultdict(Counter)
    rounds = Round.objects.filter(campaign__in=page)
    for campaign_id, word in rounds.values_list("campaign_id", "verdict__word"):
        words[campaign_id][word or VerdictWord.RUNNING] += 1
    # What the incumbents' times rest on.
    rests_on = rounds.filter(Q(number=1) | Q(verdict__word=VerdictWord.ACCEPTED))
    kept: dict[int, list[Round]] = defaultdict(list)
    for row in rests_on.select_related("verdict", "against__round", "chosen").order_by("number"):
        kept[row.campaign_id].append(row)
    lines = []
    for campaign in page:
        counts = words[campaign.pk]
        rows: Sequence[RoundRow] = ()
        if campaign.incumbent:
            rows = rows_of(campaign, kept[campaign.pk], target_of(campaign))
        best_round = campaign.incumbent.round_id if campaign.incumbent else None
        times = [row.time_us for row in rows if row.time_us]
        lines.append(
            CampaignLine(
                campaign=campaign,
                best=next((row for row in rows if row.round.pk == best_round), None),
                tallies=[(word, word.words, counts[word]) for word in VerdictWord],
                rounds=counts.total() - counts[VerdictWord.RUNNING],
                total=result_of(campaign),
                spark=spark(times),
            )
        )
    return lines
