"""The list of campaigns, filtered and sorted by what the address says."""

from __future__ import annotations

from django.core.paginator import Page, Paginator
from django.db.models import OuterRef, Q, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from campaigns.models import Campaign, CampaignState, Event
from campaigns.models.transitions import WORKING
from campaigns.reports.listing import campaign_lines
from campaigns.reports.tables import campaigns_table
from campaigns.views.lookup import csv, wants_csv, wants_fragment

PER_PAGE = 50
STATES = {
    "": Q(),
    "draft": Q(state=CampaignState.DRAFT),
    "working": Q(state__in=WORKING),
    "paused": Q(state=CampaignState.PAUSED),
    "done": Q(state=CampaignState.DONE),
    "aborted": Q(state=CampaignState.ABORTED),
}
SORTS = {"newest": "-pk", "oldest": "pk", "name": "title", "changed": "-changed_at"}


@require_safe
@vary_on_headers("HX-Request")
def campaigns(request: HttpRequest) -> HttpResponse:
    """`?q= &op= &backend= &platform= &state= &sort= &page= &format=csv`, all optional."""
    last = Event.objects.filter(campaign=OuterRef("pk")).order_by("-pk").values("at")[:1]
    found = (
        Campaign.objects.for_list().select_related("created_by").annotate(changed_at=Subquery(last))
    )
    # PostgreSQL refuses NUL in any text.
    words = ("q", "op", "backend", "platform", "state")
    asked = {key: request.GET.get(key, "").replace("\0", "") for key in words}
    found = found.filter(STATES.get(asked["state"], Q()))
    fields = {"op": "problem__op", "backend": "backend", "platform": "platform__slug"}
    found = found.filter(**{fields[key]: asked[key] for key in fields if asked[key]})
    if asked["q"]:
        found = found.filter(
            Q(title__icontains=asked["q"]) | Q(problem__title__icontains=asked["q"])
        )
    sort = request.GET.get("sort", "newest")
    found = found.order_by(SORTS.get(sort, "-pk"))
    if wants_csv(request):
        lines = ((line.campaign, line.best, line.rounds) for line in campaign_lines(list(found)))
        return csv(campaigns_table(lines), "campaigns")
    page: Page[Campaign] = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "lines": campaign_lines(list(page)),
        "asked": asked,
        "sort": sort,
        "sorts": list(SORTS),
        "states": list(STATES),
        "is_filtered": any(asked.values()),
        "facets": _facets(),
    }
    part = "campaigns/partials/campaign_table.html"
    return render(request, part if wants_fragment(request) else "campaigns/list.html", context)


def _facets() -> dict[str, list[tuple[str, str]]]:
    """What can be filtered by: only values that some campaign has."""
    rows = Campaign.objects.order_by().values_list(
        "problem__op", "backend", "platform__slug", "platform__name"
    )
    found = set(rows.distinct())
    return {
        "op": sorted({(op, op) for op, _, _, _ in found}),
        "backend": sorted({(backend, backend) for _, backend, _, _ in found}),
        "platform": sorted({(slug, name) for _, _, slug, name in found}),
    }
