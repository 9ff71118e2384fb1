"""A campaign's report as a page, and as one file that needs nothing else."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from campaigns.reports.report import FILE_POLICY, render_report, report_context
from campaigns.reports.sheet import campaign_sheet
from campaigns.reports.tables import trend_table
from campaigns.reports.totals import trend_of
from campaigns.trails.exporters.archive import reproducer_archive, trail_archive, trail_name
from campaigns.views.lookup import ZIP, campaign_at, csv, download, wants_csv


@require_safe
def report(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """What is recorded so far, each number linked to its round; `?format=csv` is its trend."""
    campaign = campaign_at(campaign_id)
    sheet = campaign_sheet(campaign, timezone.now())
    if wants_csv(request):
        return csv(trend_table(trend_of(sheet)), f"campaign-{campaign.pk}-trend")
    context = report_context(sheet, lambda n: reverse("round", args=[campaign.pk, n]))
    return render(request, "campaigns/report.html", context)


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
