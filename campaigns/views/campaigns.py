"""The list of campaigns, filtered and sorted by what the address says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.core.paginator import Page, Paginator
from django.db.models import Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from campaigns.api.serializers import CampaignSerializer
from campaigns.models import Campaign, CampaignState
from campaigns.models.transitions import WORKING
from campaigns.reports.tables import campaigns_table
from campaigns.reports.team.listing import campaign_lines
from campaigns.views.lookup import wants_fragment
from knowledge.views.formats import list_file

if TYPE_CHECKING:
    from pandas import DataFrame

PER_PAGE = 50
HEAD = "title id op backend platform state result.gain result.low result.high"
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
    """`?q= &op= &backend= &platform= &state= &sort= &page= &format=`, all optional."""
    found = (
        Campaign.objects.for_list()
        .select_related("created_by")
        .annotate(changed_at=Max("events__at"))
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
    if file := list_file(
        request, "campaigns", found, CampaignSerializer, HEAD, lambda: _table(list(found))
    ):
        return file
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


def _table(found: Sequence[Campaign]) -> DataFrame:
    lines = campaign_lines(found)
    return campaigns_table((line.campaign, line.best, line.rounds) for line in lines)


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
