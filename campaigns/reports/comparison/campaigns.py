"""Campaigns side by side, each by its best round, against the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.urls import reverse
from django.utils import timezone

from campaigns.models import Campaign
from campaigns.models.transitions import CampaignState
from campaigns.records.campaigns import goal_of, result_of, target_of
from campaigns.records.evaluations import legs_of, report_of
from campaigns.records.time_spent import time_spent
from campaigns.records.verdicts import SessionTimes, finals_of
from campaigns.reports.comparison.sections import (
    UNPAIRED,
    Column,
    Section,
    SideBySide,
    code_of,
    rows_between,
    versus,
)
from campaigns.reports.progress import spoken
from campaigns.reports.rows import RoundRow, best_rows
from campaigns.rules.wording import known_duration, share

SAME = "a campaign compared with itself"
ALIKE = ("platform", "problem version", "cases", "protocol", "backend", "v0")


def compare_campaigns(campaigns: Sequence[Campaign]) -> SideBySide:
    """Compare the bests of two to six campaigns, whatever their problems are."""
    best, finals = best_rows(campaigns), finals_of(campaigns)
    rows = [best.get(campaign.pk) for campaign in campaigns]
    measured = [
        finals.get(one.pk) or (row.measured if row else SessionTimes())
        for one, row in zip(campaigns, rows, strict=True)
    ]
    columns = [_column(campaign) for campaign in campaigns]
    settings = [_settings(campaign) for campaign in campaigns]
    legs = _legs(rows, settings)
    others = tuple(
        versus(
            column,
            SAME if column == columns[0] else UNPAIRED,
            (measured[0].times, own.times),
            (legs[0], leg),
        )
        for column, own, leg in zip(columns[1:], measured[1:], legs[1:], strict=True)
    )
    return SideBySide(
        noun="campaigns",
        columns=tuple(columns),
        others=others,
        sections=(
            Section("Result", rows_between([*map(_result, campaigns, rows, measured)])),
            Section("Settings", rows_between(settings)),
            Section("Surroundings of the best round", rows_between([*map(_environment, rows)])),
        ),
        code=code_of(*(row.round.chosen if row else None for row in rows)),
    )


def _column(campaign: Campaign) -> Column:
    href = reverse("campaign", args=[campaign.pk])
    return Column(campaign.pk, f"campaign {campaign.pk}", campaign.title, href)


def _legs(
    rows: Sequence[RoundRow | None], settings: Sequence[Mapping[str, str]]
) -> list[dict[str, str]]:
    """What all must share; another card of the same product may be compared."""
    keys = [row.verdict.evaluation_id if row and row.verdict else None for row in rows]
    known = legs_of(key for key in keys if key)
    found = []
    for key, own in zip(keys, settings, strict=True):
        measured = known.get(key or 0, {})
        legs = {name: words for name, words in measured.items() if name != "device"}
        found.append({**{name: own[name] for name in ALIKE}, **legs})
    return found


def _settings(campaign: Campaign) -> dict[str, str]:
    first = campaign.rounds.filter(number=1).select_related("chosen").first()
    return {
        "platform": campaign.platform.name,
        "problem": campaign.problem.title,
        "problem version": campaign.problem.digest[:12],
        "backend": campaign.backend,
        "cases": ", ".join(campaign.cases),
        "protocol": campaign.protocol.digest[:12],
        "v0": first.chosen.digest[:12] if first and first.chosen else "",
        "goal": goal_of(campaign).words(None, len(campaign.cases)),
        "rounds at most": str(campaign.stop_policy.get("max_rounds", "")),
    }


def _result(campaign: Campaign, row: RoundRow | None, measured: SessionTimes) -> dict[str, str]:
    spent, target = time_spent(campaign, timezone.now()), target_of(campaign)
    reached = measured.share(target)
    return {
        "state": CampaignState(campaign.state).words,
        "best round": f"{row.number}: {row.title}" if row else "",
        "best time": known_duration(measured.time_us),
        "time of the kernel beside it": known_duration(measured.incumbent_us),
        "gain over its v0": total.brief if (total := result_of(campaign)) else "",
        "share of its limit": f"{share(reached)} of {target.roof_words}" if reached else "",
        "rounds": str(campaign.rounds.count()),
        "wall time": spoken(spent.wall_h * 3600),
        "device time": spoken(spent.device_h * 3600),
        "why it ended": campaign.stop_sentence,
    }


def _environment(row: RoundRow | None) -> dict[str, str]:
    report = report_of(row.verdict.evaluation) if row and row.verdict else None
    return dict(report.environment) if report else {}
