"""What the calls copy whose times are a campaign's gain over v0."""

from __future__ import annotations

from campaigns.records.evaluations import report_of
from campaigns.reports.campaign.sheet import CampaignSheet
from campaigns.reports.rounds.rows import RoundRow
from campaigns.rules.verdict.copied import copied_words


def copies_of(sheet: CampaignSheet) -> tuple[str, ...]:
    """A sentence for the best, and one for v0; none where nothing is copied."""
    told = [_words(sheet.best, "the best")] if sheet.best else []
    if sheet.baseline is not None and sheet.baseline is not sheet.best:
        told.append(_words(sheet.baseline, "v0"))
    return tuple(filter(None, told))


def _words(row: RoundRow, whose: str) -> str:
    verdict = getattr(row.round, "verdict", None)
    report = report_of(verdict.evaluation) if verdict else None
    return copied_words(report, whose=whose) if report else ""
