"""One campaign, live: the page polls its own address and swaps what has changed; its other tabs,
its report, and its files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
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

from campaigns.api.serializers import WholeCampaignSerializer
from campaigns.models import Campaign, CampaignState, Placeholder
from campaigns.models.kinds import EVALUATION_KINDS, TORCH
from campaigns.models.transitions import PAUSABLE
from campaigns.records.baselines import is_over, wants_baselines
from campaigns.records.campaigns import intake_of, stop_policy_of
from campaigns.records.cases import dispatch_of
from campaigns.records.device_waits import no_worker_of
from campaigns.records.series import alarm_of, series_of
from campaigns.records.submissions import takes_candidates, takes_later
from campaigns.records.target.ceilings import ceilings_of, missing_spec_of, pitfalls_of
from campaigns.records.target.target_drift import drift_of
from campaigns.reports.baselines import baseline_rows
from campaigns.reports.checklist import checklist
from campaigns.reports.course import course_of
from campaigns.reports.lineage import lineage_of
from campaigns.reports.live import Version, campaign_version
from campaigns.reports.pictures import pictures
from campaigns.reports.progress import progress_of
from campaigns.reports.proposers import proposer_rows, waiting_sheets
from campaigns.reports.report import FILE_POLICY, render_report, report_context
from campaigns.reports.rows import doubts_of
from campaigns.reports.sheet import CampaignSheet, campaign_sheet, heartbeat_of
from campaigns.reports.tables import trend_table
from campaigns.reports.totals import copies_of, limits_of, trend_of
from campaigns.rules.stop.intake import fixed
from campaigns.rules.stop.phases import LIMITS
from campaigns.rules.stop.policy import RestartPolicy
from campaigns.steps.lifecycle.remove_sample import may_remove
from campaigns.trails.exporters.archive import reproducer_archive, trail_archive, trail_name
from campaigns.trails.exporters.pull_request import campaign_lines
from campaigns.views.lookup import ZIP, campaign_at, download, wants_fragment
from campaigns.views.review import review_of_result
from knowledge.curation.people import may_review
from knowledge.experience.recommend.others import others_learned
from knowledge.views.formats import list_file, record_file

SHOWN_ROUNDS, SHOWN_EVENTS, SPOKEN = 5, 3, 10
EVENTS_PER_PAGE, ROUNDS_PER_PAGE = 50, 10
STOP_POLLING = 286


@require_safe
@vary_on_headers("HX-Request")
def campaign(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """The page; for htmx what changed since `?since=`: 204 nothing, 286 the last of it."""
    found = campaign_at(campaign_id)
    name, lines = f"campaign-{found.pk}", partial(_lines, request, found)
    if file := record_file(request, name, found, WholeCampaignSerializer, lines):
        return file
    if not wants_fragment(request):
        return campaign_page(request, found, {})
    now = timezone.now()
    version = campaign_version(found, heartbeat_of(found, now))
    since = request.GET.get("since", "")
    over = STOP_POLLING if is_over(found) else None
    if since == str(version):
        return HttpResponse(status=over or 204)
    context = _context(request, campaign_sheet(found, now), version)
    seen = Version.event_of(since)
    context |= {
        "is_fragment": True,
        "board_changed": Version.board_of(since) != version.board,
        "wiki_changed": Version.wiki_of(since) != version.wiki,
        "news": _news(found, seen),
    }
    return render(request, "campaigns/partials/live.html", context, status=over)


def _lines(request: HttpRequest, found: Campaign) -> Iterable[str]:
    """The campaign in Markdown, for a pull request."""
    return campaign_lines(campaign_sheet(found, timezone.now()), request.build_absolute_uri)


def campaign_page(
    request: HttpRequest, found: Campaign, more: dict[str, Any], status: int = 200
) -> HttpResponse:
    """The whole page. more: what a form of the page adds after it was refused."""
    now = timezone.now()
    version = campaign_version(found, heartbeat_of(found, now))
    context = _context(request, campaign_sheet(found, now), version)
    context |= review_of_result(request, found) | {"alarm": alarm_of(found)}
    if found.state == CampaignState.DRAFT:
        context |= {
            "checklist": checklist(found),
            "intake": _intake(found),
            "gaps": [missing_spec_of(found, question) for question in ceilings_of(found).missing],
            "placeholders": Placeholder.objects.filter(campaign=found).select_related("by"),
            "may_allow": may_review(request.user),
        }
    return render(request, "campaigns/campaign/overview.html", context | more, status=status)


def _intake(found: Campaign) -> dict[str, str]:
    """Everything that was settled at its creation, by name."""
    torch = ", ".join(EVALUATION_KINDS[kind].words for kind in TORCH)
    return {
        **fixed(found.backend, found.platform.arch),
        **intake_of(found).shown,
        "Beside the best": torch if wants_baselines(found) else "nothing",
    }


def _target(request: HttpRequest, sheet: CampaignSheet) -> dict[str, Any]:
    """What it aims at, when it stops, and what was settled at its creation."""
    found = sheet.campaign
    return {
        "pitfalls": pitfalls_of(found),
        "limits": limits_of(sheet, timezone.now()),
        "intake": _intake(found),
        "drift": SimpleLazyObject(lambda: drift_of(found)),
    }


def _activity(request: HttpRequest, sheet: CampaignSheet) -> dict[str, Any]:
    """What happened, by whom; `?page=` of the events counts from 1."""
    found = sheet.campaign
    events = found.events.select_related("round").order_by("-pk")
    return {
        "page": Paginator(events, EVENTS_PER_PAGE).get_page(request.GET.get("page")),
        "proposers": proposer_rows(sheet, timezone.now()),
        "course": course_of(found),
        "lineage": lineage_of(found),
        "series": series_of(found),
        "dispatch": dispatch_of(sheet.best.round) if sheet.best else None,
        "others": others_learned(
            op=found.problem.op,
            backend=found.backend,
            platform=found.platform.slug,
            dtype=found.problem.dtype,
        ),
    }


# The last part of the address → what the tab needs; each has a template of that name.
TABS: dict[str, Callable[[HttpRequest, CampaignSheet], dict[str, Any]]] = {
    "target": _target,
    "activity": _activity,
}


@require_safe
def campaign_tab(request: HttpRequest, campaign_id: int, tab: str) -> HttpResponse:
    """A tab beside the overview: `TABS`."""
    if tab not in TABS:
        raise Http404(f"a campaign has no tab {tab!r}; accepted: {', '.join(TABS)}")
    sheet = campaign_sheet(campaign_at(campaign_id), timezone.now())
    context = {"sheet": sheet, "campaign": sheet.campaign, "tab": tab, **TABS[tab](request, sheet)}
    return render(request, f"campaigns/campaign/{tab}.html", context)


def _context(request: HttpRequest, sheet: CampaignSheet, version: Version) -> dict[str, Any]:
    found: Campaign = sheet.campaign
    case = request.GET.get("case", "")
    progress = progress_of(found, timezone.now())
    # Until when a person may answer the offered restart.
    offer_until = None
    is_offered = found.state == CampaignState.RESTART
    if is_offered and stop_policy_of(found).restart is RestartPolicy.ASK:
        wait = timedelta(seconds=LIMITS[CampaignState.RESTART].wall_s)
        offer_until = progress.since + wait if progress and progress.since else None
    return {
        "sheet": sheet,
        "campaign": found,
        "no_worker": no_worker_of(found),
        "version": version,
        "pictures": pictures(sheet, _to_round(found), case),
        "rows": sheet.newest_first[:SHOWN_ROUNDS],
        "events": found.events.select_related("round").order_by("-pk")[:SHOWN_EVENTS],
        "verbs": _verbs(found),
        "may_remove": found.is_sample and may_remove(found, request.user),
        "open_round": sheet.open_round,
        "takes_candidates": takes_candidates(found),
        "takes_later": takes_later(found),
        "waiting": SimpleLazyObject(lambda: waiting_sheets(found)),
        "is_over": is_over(found),
        "baselines": SimpleLazyObject(lambda: baseline_rows(found)),
        "copies": SimpleLazyObject(lambda: copies_of(sheet)),
        "tab": "overview",
        "doubts": doubts_of(found),
        # Looked up only where they are drawn, which a heartbeat alone does not.
        "drift": SimpleLazyObject(lambda: drift_of(found)),
        "progress": progress,
        "offer_until": offer_until,
    }


def _to_round(found: Campaign) -> Callable[[int], str]:
    """Round number → address; resolved once for all the marks of a chart."""
    first = reverse("round", args=[found.pk, 1])
    return lambda number: f"{first[:-2]}{number}/"


def _news(found: Campaign, seen: int | None) -> list[str]:
    """What has happened since the event that the page has seen, to be read out in order."""
    if seen is None:
        return []
    fresh = found.events.filter(pk__gt=seen).order_by("-pk")
    last = list(fresh.values_list("message", flat=True)[:SPOKEN])[::-1]
    more = fresh.count() - len(last)
    return [f"{more} earlier events", *last] if more > 0 else last


def _verbs(found: Campaign) -> list[str]:
    """What may be asked of the campaign in its present state, the likeliest first."""
    if found.is_finished:
        return []
    if found.state == CampaignState.DRAFT:
        return ["confirm", "stop"]
    held = found.state == CampaignState.PAUSED or found.pause_requested
    verbs = ["resume"] if held else ["pause"] if found.state in PAUSABLE else []
    # Asked again, it leaves out the last comparison.
    again = not found.stop_requested or found.state == CampaignState.REPORT
    return [*verbs, "stop"] if again else verbs


@require_safe
def report(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """What is recorded so far, each number linked to its round; `?format=` is its trend.

    `?page=` of the rounds counts from 1; the file has all of them.
    """
    campaign = campaign_at(campaign_id)
    sheet = campaign_sheet(campaign, timezone.now())
    name = f"campaign-{campaign.pk}-trend"
    if file := list_file(request, name, as_table=lambda: trend_table(trend_of(sheet))):
        return file
    page = Paginator(sheet.rows, ROUNDS_PER_PAGE).get_page(request.GET.get("page"))
    context = report_context(sheet, _to_round(campaign), page)
    return render(request, "campaigns/report.html", {**context, "tab": "report"})


@require_safe
def report_file(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """The same as a download, with its own policy: inline style, and no request at all."""
    campaign = campaign_at(campaign_id)
    response = download(render_report(campaign), f"kopt-campaign-{campaign.pk}.html")
    response.headers["Content-Security-Policy"] = FILE_POLICY
    return response


@require_safe
def trail(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Everything that is recorded of a campaign, in files that other systems read."""
    campaign = campaign_at(campaign_id)
    return download(trail_archive(campaign), f"{trail_name(campaign)}.zip", ZIP)


@require_safe
def reproducer(request: HttpRequest, campaign_id: int, number: int) -> HttpResponse:
    """One round in a folder that runs by itself, beside the incumbent of its time."""
    campaign = campaign_at(campaign_id)
    try:
        content = reproducer_archive(campaign, number)
    except LookupError as error:
        raise Http404(str(error)) from None
    return download(content, f"{trail_name(campaign)}_round-{number}.zip", ZIP)
