"""Records → the report of a campaign. Nothing is ever read back out of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from campaigns.evaluator.contract import Report
from campaigns.models import Campaign, Candidate, Evaluation, Event, Round, Standing
from campaigns.records.campaigns import intake_of
from campaigns.records.evaluations import machine_code_of, report_of
from campaigns.records.findings import FoundLine, found_lines
from campaigns.records.rounds import StoredHypothesis, hypothesis_of
from campaigns.records.target.target_drift import drift_of
from campaigns.records.target.target_warnings import pitfalls_of
from campaigns.reports.baselines import baseline_rows
from campaigns.reports.diff import Diff, diff
from campaigns.reports.lineage import lineage_of
from campaigns.reports.pictures import Link, pictures
from campaigns.reports.rows import RoundRow, doubts_of, meanings, sessions_by_round
from campaigns.reports.sheet import CampaignSheet, campaign_sheet
from campaigns.reports.splits import Splits, splits_of
from campaigns.reports.totals import audit_of, copies_of, limits_of, trend_of
from campaigns.rules.target.ceilings import CampaignTarget
from campaigns.rules.verdict.attribution import attributions_of
from knowledge.specs.cited import Cited

STYLES = ("css/app.css", "css/charts.css")
FILE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, slots=True)
class Chapter:
    """One round of the report: its row, what it tried, its gates, its diff where it was kept.

    findings: of the judged source, with what the campaign makes of each.
    """

    row: RoundRow
    hypothesis: StoredHypothesis | None
    gates: tuple[dict[str, Any], ...]
    sessions: tuple[Standing, ...]
    findings: tuple[FoundLine, ...]
    diff: Diff | None


def render_report(campaign: Campaign) -> str:
    """The whole report as one HTML file that makes no request, not even for its style."""
    sheet = campaign_sheet(campaign, timezone.now())
    # A link to this server would lead nowhere from another machine: the citations are in the file.
    sheet = replace(sheet, target=_cited_here(sheet.target))
    context = report_context(sheet, lambda number: f"#round-{number}")
    more = {"is_file": True, "style": _style(), "policy": FILE_POLICY}
    return render_to_string("campaigns/report_file.html", {**context, **more})


def report_context(sheet: CampaignSheet, link: Link) -> dict[str, Any]:
    """What both forms of the report are drawn from. link: round number → address."""
    campaign, best = sheet.campaign, _best_evaluation(sheet)
    report = report_of(best) if best else None
    sessions = sessions_by_round(campaign)
    return {
        "sheet": sheet,
        "campaign": campaign,
        "pictures": pictures(sheet, link),
        "chapters": [_chapter(row, sessions) for row in sheet.rows],
        "overall": _overall(sheet),
        "environment": _environment(sheet),
        "splits": _splits(sheet, report),
        "attributions": attributions_of(report),
        "copies": copies_of(sheet),
        "code": machine_code_of(best.candidate) if best else None,
        "audit": audit_of(sheet),
        "baselines": baseline_rows(campaign),
        "trend": trend_of(sheet),
        "protocol": campaign.protocol.rules,
        "guard": intake_of(campaign).guard_policy,
        "limits": limits_of(sheet, timezone.now()),
        "pitfalls": pitfalls_of(campaign),
        "doubts": doubts_of(campaign),
        "meanings": meanings(),
        "drift": drift_of(campaign),
        "lineage": lineage_of(campaign),
        "events": Event.objects.filter(campaign=campaign).order_by("pk"),
        "written_at": timezone.now(),
    }


def _cited_here(target: CampaignTarget) -> CampaignTarget:
    def here(cited: Cited) -> Cited:
        return replace(cited, href="#target-title")

    return replace(
        target,
        bandwidths=tuple(map(here, target.bandwidths)),
        computes=tuple(map(here, target.computes)),
        lessers=tuple(map(here, target.lessers)),
    )


def _chapter(row: RoundRow, sessions: dict[int, tuple[Standing, ...]]) -> Chapter:
    round_: Round = row.round
    verdict = getattr(round_, "verdict", None)
    kept = row.word.value == "accepted" and row.number > 1
    chosen = round_.chosen
    return Chapter(
        row=row,
        hypothesis=hypothesis_of(round_),
        gates=tuple(verdict.gates) if verdict else (),
        sessions=sessions.get(round_.pk, ()),
        findings=tuple((found_lines(chosen, round_.campaign) or ()) if chosen else ()),
        diff=_between(round_.against, round_.chosen) if kept else None,
    )


def _overall(sheet: CampaignSheet) -> Diff | None:
    """From v0 to the incumbent: what the campaign has done to the source as a whole."""
    if not sheet.baseline or not sheet.best or sheet.best is sheet.baseline:
        return None
    return _between(sheet.baseline.round.chosen, sheet.best.round.chosen)


def _between(old: Candidate | None, new: Candidate | None) -> Diff | None:
    return diff(old.text, new.text, new.file_name) if old and new else None


def _environment(sheet: CampaignSheet) -> dict[str, str]:
    """Of the evaluation that the best round rests on."""
    found = _best_evaluation(sheet)
    return dict(found.report.get("environment", {})) if found else {}


def _best_evaluation(sheet: CampaignSheet) -> Evaluation | None:
    verdict = getattr(sheet.best.round, "verdict", None) if sheet.best else None
    return verdict.evaluation if verdict else None


def _splits(sheet: CampaignSheet, report: Report | None) -> Splits | None:
    """Of the same evaluation, whose report this is."""
    found = _best_evaluation(sheet)
    if found is None:
        return None
    return splits_of(sheet.campaign, report, found.candidate.source, sheet.target)


def _style() -> SafeString:
    texts = []
    for name in STYLES:
        path = finders.find(name)
        assert isinstance(path, str), f"{name}: no such static file"
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    # Our own style sheets; nothing that a person or a candidate wrote is in them.
    return mark_safe("\n".join(texts))
