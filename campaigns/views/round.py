"""One round: the page a reviewer reads from top to bottom, its diff, and its source; and the list
of all rounds, and two of them side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from campaigns.api.serializers import RoundSerializer, WholeRoundSerializer
from campaigns.evaluator.contract import Source
from campaigns.models import Campaign, Candidate, Evaluation, Round, StandingWord
from campaigns.models.kinds import TORCH
from campaigns.records.campaigns import intake_of, target_of
from campaigns.records.cases import dispatch_of, no_split
from campaigns.records.device_waits import no_worker_of
from campaigns.records.evaluations import machine_code_in, report_of
from campaigns.records.findings import finding_counts, found_lines
from campaigns.records.rounds import hypothesis_of
from campaigns.records.submissions import awaited_repair, not_now, takes_candidates
from campaigns.records.sweeps import sweep_of
from campaigns.records.target.target_drift import drift_of
from campaigns.records.verdicts import classes_of, sanitizer_result
from campaigns.reports.case_table import busy_words, case_rows, seen_table
from campaigns.reports.comparison import compare_rounds
from campaigns.reports.diff import Diff, diff, highlighted
from campaigns.reports.lineage import lineage_of, reproduce_commands
from campaigns.reports.rows import meanings, sessions_of, some_rows
from campaigns.reports.sheet import campaign_sheet
from campaigns.reports.splits import splits_of
from campaigns.reports.tables import comparison_table, rounds_table
from campaigns.rules.verdict.attribution import attributions_of
from campaigns.rules.verdict.report_words import notes_of
from campaigns.trails.exporters.pull_request import round_lines
from campaigns.views.lookup import (
    campaign_at,
    candidate_of,
    download,
    number_in,
    round_at,
    wants_fragment,
)
from campaigns.views.sweep import panel_of
from knowledge.experience.recommend.others import RoundLearned, round_learned
from knowledge.views.formats import list_file, record_file

SHOWN_LINES, USUAL_CONTEXT, MOST_CONTEXT = 200, 3, 10_000
RIVALS = ("incumbent", "previous", "baseline")
PER_PAGE = 50
HEAD = "title number verdict reason gain.gain gain.low gain.high gain.pairs standing"
SORTS = {
    "number": lambda row: row.number,
    "newest": lambda row: -row.number,
    "gain": lambda row: -row.gain.gain if row.gain else math.inf,
    "time": lambda row: row.time_us or math.inf,
}


@require_safe
def round_(request: HttpRequest, campaign_id: int, number: int) -> HttpResponse:
    """`?view=` split or unified, `?ctx=` lines of context, `?w=0` ignores blanks."""
    found = round_at(campaign_at(campaign_id), number)
    name = f"campaign-{campaign_id}-round-{number}"
    lines = partial(_lines, request, found)
    file = record_file(request, name, found, WholeRoundSerializer, lines)
    return file or round_page(request, found)


def _lines(request: HttpRequest, found: Round) -> Iterable[str]:
    """The round in Markdown, for a pull request."""
    campaign = found.campaign
    row = some_rows(campaign, [found.number], target_of(campaign))[found.number]
    return round_lines(row, request.build_absolute_uri)


def round_page(
    request: HttpRequest, found: Round, said: dict[str, str] | None = None
) -> HttpResponse:
    """said: a repair that was refused, as it was typed, with the error."""
    campaign, number = found.campaign, found.number
    candidate = candidate_of(found)
    verdict = getattr(found, "verdict", None)
    target = target_of(campaign)
    row = some_rows(campaign, [number], target)[number]
    evaluations = _evaluations(found)
    measured = verdict.evaluation if verdict else next(iter(evaluations), None)
    report = report_of(measured) if measured else None
    sessions = sessions_of(found)
    guard = intake_of(campaign).guard_policy
    context: dict[str, Any] = {
        "campaign": campaign,
        "round": found,
        "row": row,
        "verdict": verdict,
        **_offers(found),
        "said": said,
        "looked": sanitizer_result(verdict) if verdict else None,
        "sessions": sessions,
        "meanings": meanings(),
        "doubts": [s for s in sessions if s.word == StandingWord.NOT_REPRODUCED],
        "hypothesis": hypothesis_of(found),
        "candidate": candidate,
        "findings": found_lines(candidate, campaign) if candidate else None,
        "classes": classes_of(verdict) if verdict else (),
        "dispatch": dispatch_of(found),
        "no_split": no_split(found),
        "split_in": campaign.rounds.filter(split__called_by=number).first(),
        "cases": case_rows(row, report, target, guard),
        "measured": measured,
        "report": report,
        "notes": notes_of(report) if report else (),
        "attributions": attributions_of(report),
        "seen": seen_table(report),
        "busy": busy_words(report),
        "target": target,
        "splits": splits_of(campaign, report, _source(measured, candidate), target)
        if measured
        else None,
        "code": machine_code_in(e for e in evaluations if e.candidate == candidate),
        "drift": SimpleLazyObject(lambda: drift_of(campaign)),
        "learned": _learned(found),
        "commit": getattr(found, "commit", None),
        "lineage": SimpleLazyObject(lambda: lineage_of(campaign)),
        "candidates": _candidates(found, evaluations),
        "repairs": found.repairs.all(),
        "voids": [found for found in reversed(evaluations) if found.void],
        "commands": reproduce_commands(campaign, found, candidate) if candidate else (),
        **panel_of(campaign, found, sweep_of(found)),
        **_neighbours(campaign, number),
        **_diff(request, found, candidate, "incumbent"),
    }
    shown: Diff | None = context["diff"]
    if shown and len(shown.rows) > SHOWN_LINES and context["view"] == "unified":
        context |= {"diff_rows": shown.rows[:SHOWN_LINES], "cut": len(shown.rows) - SHOWN_LINES}
    return render(request, "campaigns/round.html", context, status=422 if said else 200)


def _offers(found: Round) -> dict[str, Any]:
    """What can be done about the round, and what it waits for."""
    campaign, verdict = found.campaign, getattr(found, "verdict", None)
    is_best = found.chosen_id == campaign.incumbent_id
    return {
        "takes_candidates": verdict is not None and takes_candidates(campaign),
        "may_repeat": verdict and found.number > 1 and not (is_best or not_now(campaign)),
        "no_worker": "" if verdict else no_worker_of(campaign),
        "awaited": None if verdict else awaited_repair(campaign),
    }


@require_safe
def round_diff(request: HttpRequest, campaign_id: int, number: int) -> HttpResponse:
    """The whole diff; `?against=` incumbent, previous, baseline or a round's number."""
    campaign = campaign_at(campaign_id)
    found = round_at(campaign, number)
    against = request.GET.get("against", "incumbent")
    shown = _diff(request, found, candidate_of(found), against)
    context = {"campaign": campaign, "round": found, "against": against, "rivals": RIVALS, **shown}
    return render(request, "campaigns/diff.html", {**context, **_neighbours(campaign, number)})


@require_safe
def round_source(request: HttpRequest, campaign_id: int, number: int) -> HttpResponse:
    """A candidate's whole source; `?candidate=` its ordinal, `?raw=1` the file itself."""
    campaign = campaign_at(campaign_id)
    found = round_at(campaign, number)
    ordinal = request.GET.get("candidate", "")
    if ordinal:
        wanted = number_in(ordinal)
        known = found.candidates.filter(ordinal=wanted) if wanted is not None else ()
        candidate = next(iter(known), None)
    else:
        candidate = candidate_of(found)
    if candidate is None:
        raise Http404(f"round {number} has no such candidate")
    if request.GET.get("raw"):
        return _file(candidate)
    context = {
        "campaign": campaign,
        "round": found,
        "candidate": candidate,
        "candidates": found.candidates.all(),
        "findings": found_lines(candidate, campaign),
        "lines": highlighted(candidate.text, candidate.file_name),
    }
    return render(request, "campaigns/source.html", context)


def _learned(found: Round) -> RoundLearned:
    """What the round is to the team's experience."""
    tried = hypothesis_of(found)
    campaign = found.campaign
    return round_learned(
        campaign.pk,
        found.number,
        tried.strategy if tried else "",
        campaign.backend,
        tried.follows if tried else (),
    )


def _source(measured: Evaluation, candidate: Candidate | None) -> Source:
    """The source that was measured, without a query where it is the candidate of the page."""
    is_own = candidate is not None and candidate.pk == measured.candidate_id
    return candidate.source if candidate and is_own else measured.candidate.source


def _evaluations(round_: Round) -> list[Evaluation]:
    """Every evaluation of the round's candidates, the newest first."""
    rows = Evaluation.objects.filter(candidate__round=round_).exclude(kind__in=TORCH)
    return list(rows.select_related("candidate", "worker").order_by("-pk"))


def _candidates(round_: Round, evaluations: list[Evaluation]) -> list[dict[str, Any]]:
    """The round's candidates, each with its own evaluations in the order of their making."""
    return [
        {
            "pk": row.pk,
            "ordinal": row.ordinal,
            "label": row.label,
            "findings": finding_counts(row, round_.campaign),
            "repair": getattr(row, "repair", None),
            "found": [e for e in reversed(evaluations) if e.candidate_id == row.pk],
        }
        for row in round_.candidates.select_related("repair")
    ]


def _diff(
    request: HttpRequest, found: Round, candidate: Candidate | None, against: str
) -> dict[str, Any]:
    rival = _rival(found, against)
    lines = number_in(request.GET.get("ctx", ""))
    context = USUAL_CONTEXT if lines is None else min(lines, MOST_CONTEXT)
    shown: Diff | None = None
    if candidate and rival:
        space = request.GET.get("w", "1") != "0"
        shown = diff(rival.text, candidate.text, candidate.file_name, context=context, space=space)
    view = "split" if request.GET.get("view") == "split" else "unified"
    return {
        "diff": shown,
        "rival": rival,
        "candidate": candidate,
        "view": view,
        "ctx": context,
        "w": request.GET.get("w", "1"),
    }


def _rival(found: Round, against: str) -> Candidate | None:
    """The candidate on the other side of the diff; None where there is none."""
    if against == "incumbent":
        return found.against
    named = {"previous": found.number - 1, "baseline": 1}
    number = named[against] if against in named else number_in(against)
    if number is None:
        raise Http404(f"against: {against!r}; accepted: {', '.join(RIVALS)} or a round's number")
    other = found.campaign.rounds.select_related("chosen").filter(number=number).first()
    return candidate_of(other) if other else None


def _neighbours(campaign: Campaign, number: int) -> dict[str, int | None]:
    numbers = campaign.rounds.order_by("number")
    before = numbers.filter(number__lt=number).last()
    after = numbers.filter(number__gt=number).first()
    return {"before": before.number if before else None, "after": after.number if after else None}


def _file(candidate: Candidate) -> HttpResponse:
    # Plain text as an attachment: whatever the candidate holds, no browser runs it.
    suffix = candidate.file_name.rpartition(".")[2]
    name = f"round-{candidate.round.number}.{suffix if suffix.isalnum() else 'txt'}"
    return download(candidate.text, name, "text/plain; charset=utf-8")


@require_safe
@vary_on_headers("HX-Request")
def rounds(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """`?verdict=` keeps one verdict, `?sort=` orders, `?page=` counts from 1, `?format=`."""
    sheet = campaign_sheet(campaign_at(campaign_id), timezone.now())
    wanted = request.GET.get("verdict", "")
    sort = request.GET.get("sort", "number")
    found = [row for row in sheet.rows if wanted in ("", row.word.value)]
    found.sort(key=SORTS.get(sort, SORTS["number"]))
    rows, name = [row.round for row in found], f"campaign-{campaign_id}-rounds"
    table = partial(rounds_table, found)
    if file := list_file(request, name, rows, RoundSerializer, HEAD, table):
        return file
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "sheet": sheet,
        "campaign": sheet.campaign,
        "rows": page.object_list,
        "page": page,
        "wanted": wanted,
        "sort": sort,
        "sorts": list(SORTS),
    }
    part = "campaigns/partials/rounds_page.html"
    return render(request, part if wants_fragment(request) else "campaigns/rounds.html", context)


@require_safe
def compare(request: HttpRequest, campaign_id: int, first: int, second: int) -> HttpResponse:
    """`?only=all` shows the equal rows too; `?format=` is the table of cases."""
    campaign = campaign_at(campaign_id)
    found = compare_rounds(campaign, round_at(campaign, first), round_at(campaign, second))
    name = f"campaign-{campaign.pk}-rounds-{first}-{second}"
    if file := list_file(request, name, as_table=partial(comparison_table, found)):
        return file
    context = {
        "campaign": campaign,
        "comparison": found,
        "only": "all" if request.GET.get("only") == "all" else "diff",
        "swapped": reverse("compare", args=[campaign.pk, second, first]),
    }
    return render(request, "campaigns/compare.html", context)
