"""Records → the report of a campaign. Nothing is ever read back out of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders
from django.core.paginator import Page
from django.db.models import Q
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.utils.safestring import mark_safe

from campaigns.models import Campaign, Candidate, Event, Standing
from campaigns.records.campaigns import intake_of
from campaigns.records.evaluations import report_of
from campaigns.records.explained.profiles import Explained, explained_of
from campaigns.records.findings import found_lines
from campaigns.records.target.ceilings import pitfalls_of
from campaigns.records.target.target_drift import drift_of
from campaigns.reports.baselines import baseline_rows
from campaigns.reports.diff import Diff, diff
from campaigns.reports.kernel.splits import splits_of
from campaigns.reports.lineage import lineage_of
from campaigns.reports.pictures import Link, pictures
from campaigns.reports.rows import RoundRow, doubts_of, meanings, sessions_by_round
from campaigns.reports.sheet import CampaignSheet, campaign_sheet
from campaigns.reports.totals import audit_of, copies_of, limits_of, trend_of
from campaigns.rules.verdict.attribution import attributions_of

STYLES = ("css/app.css", "css/charts.css")
FILE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def render_report(campaign: Campaign) -> str:
    """The whole report as one HTML file that makes no request, not even for its style."""
    sheet = campaign_sheet(campaign, timezone.now())
    # A link to this server would lead nowhere from another machine: the citations are in the file.
    here: dict[str, Any] = {
        name: tuple(replace(cited, href="#target-title") for cited in getattr(sheet.target, name))
        for name in ("bandwidths", "computes", "lessers")
    }
    sheet = replace(sheet, target=replace(sheet.target, **here))
    context = report_context(sheet, lambda number: f"#round-{number}")
    styles = []
    for name in STYLES:
        path = finders.find(name)
        assert isinstance(path, str), f"{name}: no such static file"
        styles.append(Path(path).read_text(encoding="utf-8"))
    # Our own style sheets; nothing that a person or a candidate wrote is in them.
    more = {"is_file": True, "style": mark_safe("\n".join(styles)), "policy": FILE_POLICY}
    return render_to_string("campaigns/report_file.html", {**context, **more})


def report_context(
    sheet: CampaignSheet, link: Link, page: Page[RoundRow] | None = None
) -> dict[str, Any]:
    """What both forms of the report are drawn from. link: round number → address.

    page: the rounds to tell of; None is all, as in the file.
    """
    campaign, first, last = sheet.campaign, sheet.baseline, sheet.best
    best = last.verdict.evaluation if last and last.verdict else None
    report = report_of(best) if best else None
    read = explained_of(best.candidate, campaign) if best else Explained()
    rows = sheet.rows if page is None else tuple(page.object_list)
    sessions = sessions_by_round(campaign, Q(round__in=[row.round for row in rows]))
    # From v0 to the incumbent: what the campaign has done to the source as a whole.
    ends = (first, last) if first and last and last is not first else None
    return {
        "sheet": sheet,
        "campaign": campaign,
        "pictures": pictures(sheet, link),
        "chapters": [_chapter(row, sessions) for row in rows],
        "rows": rows,
        "page": page,
        "overall": _between(*(end.round.chosen for end in ends)) if ends else None,
        "environment": dict(best.report.get("environment", {})) if best else {},
        "splits": splits_of(campaign, report, best.candidate.source, sheet.target)
        if best
        else None,
        "attributions": attributions_of(report),
        "copies": copies_of(sheet),
        "code": read.code,
        "profiled": read.profiled,
        "audit": audit_of(sheet),
        "baselines": baseline_rows(campaign),
        "trend": trend_of(sheet, rows),
        "protocol": campaign.protocol.rules,
        "guard": intake_of(campaign).guard_policy,
        # Of the file alone, as on the page other tabs show them.
        "limits": SimpleLazyObject(lambda: limits_of(sheet, timezone.now())),
        "pitfalls": pitfalls_of(campaign),
        "doubts": doubts_of(campaign),
        "meanings": meanings(),
        "drift": drift_of(campaign),
        "lineage": lineage_of(campaign),
        "events": Event.objects.filter(campaign=campaign).order_by("pk"),
        "written_at": timezone.now(),
    }


def _chapter(row: RoundRow, sessions: dict[int, tuple[Standing, ...]]) -> dict[str, Any]:
    """One round of the report: its row, what it tried, its gates, its diff where it was kept.

    findings: of the judged source, with what the campaign makes of each.
    """
    old, new = row.round.against, row.round.chosen
    return {
        "row": row,
        "hypothesis": row.hypothesis,
        "gates": row.verdict.gates if row.verdict else (),
        "sessions": sessions.get(row.round.pk, ()),
        "findings": (found_lines(new, row.round.campaign) if new else None) or (),
        "diff": _between(old, new) if row.is_kept and row.number > 1 else None,
    }


def _between(old: Candidate | None, new: Candidate | None) -> Diff | None:
    return diff(old.text, new.text, new.file_name) if old and new else None
