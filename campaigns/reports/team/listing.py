"""One line for each campaign of a list: its best round, its verdicts and its course.

And which columns people choose from, for campaigns and for rounds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.charts.progress import Spark, spark
from campaigns.models import Campaign, Round
from campaigns.records.campaigns import result_of
from campaigns.reports.rows import RoundRow, kept_rows
from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.decision import VerdictWord
from knowledge.lookup.columns import columns_in

# Each has its cell in templates/campaigns/cells/. A campaign's number and title are always there.
CAMPAIGN_COLUMNS = columns_in(
    "campaigns/cells/campaign",
    ("op", "Operator"),
    ("backend", "Backend"),
    ("state", "State"),
    ("best", "Best, µs", "num"),
    ("share", "Share of roof", "nowrap"),
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
    ("share", "Share of roof", "num"),
    ("candidates", "Candidates", "num"),
    ("took", "Took", "num"),
    ("+strategy", "Strategy"),
)
SHORT_ROUND_COLUMNS = ROUND_COLUMNS[:4]


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
    kept, lines = kept_rows(page), []
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
                total=result_of(campaign),
                spark=spark(times),
            )
        )
    return lines
