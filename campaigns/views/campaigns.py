"""The list of campaigns as its address filters and sorts it; and what is done with many of them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db.models import OuterRef, Q, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from campaigns.api.serializers import CampaignSerializer
from campaigns.models import Campaign, CampaignState, Event, IllegalTransition
from campaigns.models.transitions import WORKING
from campaigns.reports.tables import campaigns_table
from campaigns.reports.team.listing import CAMPAIGN_COLUMNS, campaign_lines
from campaigns.steps.lifecycle.control import archive, unarchive
from campaigns.trails.exporters.archive import NO_TIME, trail_archive, trail_name
from campaigns.views.lookup import (
    UNDO,
    ZIP,
    download,
    may_change,
    number_in,
    offer_undo,
    wants_fragment,
)
from knowledge.lookup.listing import slug_meant
from knowledge.views.formats import list_file
from knowledge.views.list_views import bar_of

if TYPE_CHECKING:
    from pandas import DataFrame

PER_PAGE, MOST_TICKED, MOST_TRAILS = 15, 50, 10
HEAD = "title id op backend platform state result.gain result.low result.high"
STATES = {
    "": Q(),
    "draft": Q(state=CampaignState.DRAFT),
    "working": Q(state__in=WORKING),
    "paused": Q(state=CampaignState.PAUSED),
    "done": Q(state=CampaignState.DONE),
    "aborted": Q(state=CampaignState.ABORTED),
    "archived": Q(),
}
SORTS = {"newest": "-pk", "oldest": "pk", "name": "title", "changed": "-changed_at"}
# Verb → the step, the step back, and what is said of so many campaigns.
STEPS: dict[str, tuple[Callable[[Campaign, Any], bool], str, str]] = {
    "archive": (archive, "unarchive", "archived"),
    "unarchive": (unarchive, "archive", "brought back"),
}


@require_safe
@vary_on_headers("HX-Request")
def campaigns(request: HttpRequest) -> HttpResponse:
    """`?q= &op= &backend= &platform= &state= &sort= &cols= &page= &format=`, all optional."""
    bar = bar_of(request, "campaigns", CAMPAIGN_COLUMNS)
    if isinstance(bar, HttpResponse):
        return bar
    last = Event.objects.filter(campaign=OuterRef("pk")).order_by("-pk").values("at")[:1]
    found = (
        Campaign.objects.for_list().select_related("created_by").annotate(changed_at=Subquery(last))
    )
    # PostgreSQL refuses NUL in any text.
    words = ("q", "op", "backend", "platform", "state")
    asked = {key: request.GET.get(key, "").replace("\0", "") for key in words}
    in_sight = asked["state"] != "archived"
    found = found.filter(STATES.get(asked["state"], Q()), archived__isnull=in_sight)
    fields = {"op": "problem__op", "backend": "backend", "platform": "platform__slug"}
    asked["platform"] = slug_meant(asked["platform"])
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
        "bar": bar,
        "page": page,
        "lines": campaign_lines(list(page)),
        "asked": asked,
        "sort": sort,
        "sorts": list(SORTS),
        "states": list(STATES),
        "is_filtered": any(asked.values()),
        "facets": _facets(in_sight),
        "has_any": bool(page) or Campaign.objects.exists(),
        "archive": "archive_campaigns" if in_sight else "unarchive_campaigns",
    }
    part = "campaigns/partials/campaign_table.html"
    return render(request, part if wants_fragment(request) else "campaigns/list.html", context)


def _table(found: Sequence[Campaign]) -> DataFrame:
    lines = campaign_lines(found)
    return campaigns_table((line.campaign, line, line.rounds) for line in lines)


@may_change
@require_POST
def archive_campaigns(request: HttpRequest, verb: str) -> HttpResponse:
    """Archive the campaigns `c`, or bring them back; then the list as its address was.

    The keys of an undo stand in the address, and are offered for no other.
    """
    keys = _ticked(request, MOST_TICKED)
    if isinstance(keys, HttpResponse):
        return keys
    step, back, word = STEPS[verb]
    done = []
    for campaign in Campaign.objects.filter(pk__in=keys):
        try:
            if step(campaign, request.user):
                done.append(campaign.pk)
        except IllegalTransition as error:
            messages.error(request, f"{error}.".capitalize())
    kept = request.GET.copy()
    kept.pop("c", None)
    words = f"{len(done)} campaign{'' if len(done) == 1 else 's'} {word}."
    if done and "c" not in request.GET:
        asked: dict[str, Any] = {**kept.dict(), "c": done}
        there = urlencode(asked, doseq=True)
        offer_undo(request, f"{reverse(f'{back}_campaigns')}?{there}", words)
    else:
        request.session.pop(UNDO, None)
        messages.success(request, words)
    return redirect(f"{reverse('campaigns')}?{kept.urlencode()}")


@require_safe
def trails(request: HttpRequest) -> HttpResponse:
    """The trails of the campaigns `c` in one archive, each as its own page gives it."""
    keys = _ticked(request, MOST_TRAILS)
    if isinstance(keys, HttpResponse):
        return keys
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as whole:
        for campaign in Campaign.objects.for_list().filter(pk__in=keys):
            name = f"{campaign.pk}_{trail_name(campaign)}.zip"
            whole.writestr(zipfile.ZipInfo(name, NO_TIME), trail_archive(campaign))
    return download(file.getvalue(), "trails.zip", ZIP)


def _ticked(request: HttpRequest, most: int) -> list[int] | HttpResponse:
    """The keys of the ticked campaigns, or the answer that says how many may be ticked."""
    given = request.POST.getlist("c") or request.GET.getlist("c")
    keys = [key for text in given[:most] if (key := number_in(text)) is not None]
    if keys and len(keys) == len(given):
        return keys
    message = f"c: {len(given)} given; accepted: 1 to {most} numbers of campaigns."
    refusal = {"title": f"Tick 1 to {most} campaigns", "message": message, "status": 400}
    return render(request, "refused.html", {"refusal": refusal}, status=400)


def _facets(in_sight: bool) -> dict[str, list[tuple[str, str]]]:
    """What can be filtered by: only values that some campaign has."""
    every = Campaign.objects.order_by().filter(archived__isnull=in_sight)
    rows = every.values_list("problem__op", "backend", "platform__slug", "platform__name")
    found = set(rows.distinct())
    return {
        "op": sorted({(op, op) for op, _, _, _ in found}),
        "backend": sorted({(backend, backend) for _, backend, _, _ in found}),
        "platform": sorted({(slug, name) for _, _, slug, name in found}),
    }
