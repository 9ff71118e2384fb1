"""Records → a few lines of Markdown for a pull request: the result, its cases, its surroundings.

All of it is stored text or made from it, so its templates escape all of it. Links are absolute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from campaigns.models import Evaluation
from campaigns.records.evaluations import report_of
from campaigns.reports.rows import RoundRow, standing_words
from campaigns.reports.sheet import CampaignSheet
from campaigns.trails.exporters.text_filters import rival
from campaigns.trails.exporters.text_templates import text_of

# An address of this server → with its host.
Site = Callable[[str], str]
# What of an environment tells two measurements apart at a glance; the round's page has all of it.
MOST_FACTS = 6


def round_lines(row: RoundRow, site: Site) -> Iterator[str]:
    """One round: the parts of a Markdown text."""
    against = "" if row.is_baseline else rival(row.against)
    words = filter(None, (row.word.words, standing_words(row.standing)))
    yield text_of(
        "pull_request/round.md",
        row=row,
        campaign=row.round.campaign,
        site=site,
        rival=against,
        word=", ".join(words).capitalize(),
        # What was measured side by side: nothing of a baseline.
        timed=[result for result in row.results if result.time] if against else [],
        measured=_surroundings(row),
    ).rstrip("\n")


def campaign_lines(sheet: CampaignSheet, site: Site) -> Iterator[str]:
    """A campaign: its best round, and what each kept round added to the incumbent of its time."""
    yield text_of(
        "pull_request/campaign.md",
        sheet=sheet,
        campaign=sheet.campaign,
        site=site,
        rival=rival(sheet.against),
        kept=[row for row in sheet.rows if row.is_kept and not row.is_baseline],
        measured=_surroundings(sheet.best),
    ).rstrip("\n")


def _surroundings(row: RoundRow | None) -> str:
    """Where it was measured, in one line; "" where it was not."""
    measured: Evaluation | None = row.verdict.evaluation if row and row.verdict else None
    report = report_of(measured) if measured else None
    if measured is None or report is None:
        return ""
    facts = [f"{name} {value}" for name, value in sorted(report.environment.items()) if value]
    worker = [f"worker {measured.worker.name}"] if measured.worker else []
    return ", ".join([*facts[:MOST_FACTS], *worker])
