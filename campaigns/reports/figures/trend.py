"""The campaigns of one problem over time, grouped so that the times of a group can be compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from campaigns.charts import campaign_trend
from campaigns.charts.campaign_trend import TrendChart, TrendGroup, TrendPoint
from campaigns.charts.marks import NoChart
from campaigns.models import Campaign, Problem
from campaigns.models.transitions import FINISHED
from campaigns.records.campaigns import target_of
from campaigns.records.verdicts import finals_of

if TYPE_CHECKING:
    from pandas import DataFrame

GROUP = ["platform", "backend", "cases"]


def trend_of(problem: Problem, link: Callable[[int], str]) -> TrendChart | NoChart:
    """Draw every finished campaign of this version. link: campaign key → address."""
    table = finished_campaigns(problem)
    groups = []
    if len(table):
        for names, rows in table.groupby(GROUP, sort=False):
            points = [
                TrendPoint(row.campaign, link(row.campaign), row.finished.to_pydatetime(),
                           row.best_us, None if row.share != row.share else row.share, row.limit)
                for row in rows.sort_values("finished").itertuples()
            ]  # fmt: skip
            groups.append(TrendGroup(" · ".join(map(str, names)), tuple(points)))
    return campaign_trend.build(groups)


def finished_campaigns(problem: Problem) -> DataFrame:
    """A row a finished campaign: its group, and what its final session measured of its best."""
    # Only here: pandas takes a second to load, which no other page should wait for.
    from pandas import DataFrame

    rows = Campaign.objects.at_work().for_list().filter(problem=problem, state__in=FINISHED)
    campaigns = list(rows.filter(finished_at__isnull=False))
    finals, targets = finals_of(campaigns), {one.pk: target_of(one) for one in campaigns}
    return DataFrame(
        [
            {
                "campaign": campaign.pk,
                "finished": campaign.finished_at,
                "platform": campaign.platform.name,
                "backend": campaign.backend,
                "cases": ", ".join(sorted(campaign.cases)),
                "best_us": float(final.time_us),
                "share": final.share(targets[campaign.pk]),
                "limit": targets[campaign.pk].roof_words,
            }
            for campaign in campaigns
            if (final := finals.get(campaign.pk)) and final.time_us
        ]
    )
