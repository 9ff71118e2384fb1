"""Two to six rounds of one campaign, or campaigns by their best, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from campaigns.models import Campaign
from campaigns.reports.comparison.campaigns import compare_campaigns
from campaigns.reports.comparison.markdown import markdown_of
from campaigns.reports.comparison.rounds import compare_rounds
from campaigns.reports.comparison.sections import (
    FEWEST,
    MOST,
    SideBySide,
    facts_of,
    table_rows,
)
from campaigns.views.lookup import campaign_at, number_in, round_at
from knowledge.views.formats import file_asked, record_file
from knowledge.views.tables import table_answer


@require_safe
def compare(request: HttpRequest, campaign_id: int, first: int, second: int) -> HttpResponse:
    """Two rounds; `?only=all` shows the equal rows too, `?format=` csv, json or md."""
    return _rounds(request, campaign_at(campaign_id), (first, second))


@require_safe
def compare_many(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """`?r=` two to six rounds, the first the baseline; without any, the list to tick them."""
    campaign = campaign_at(campaign_id)
    if "r" not in request.GET:
        return redirect("rounds", campaign_id)
    numbers = _numbers(request, "r", "rounds")
    return numbers if isinstance(numbers, HttpResponse) else _rounds(request, campaign, numbers)


@require_safe
def compare_campaigns_page(request: HttpRequest) -> HttpResponse:
    """`?c=` two to six campaigns, each by its best round; without any, the list to tick them."""
    if "c" not in request.GET:
        return redirect("campaigns")
    keys = _numbers(request, "c", "campaigns")
    if isinstance(keys, HttpResponse):
        return keys
    rows = Campaign.objects.for_list().select_related("protocol", "created_by")
    campaigns = [get_object_or_404(rows, pk=key) for key in keys]
    swapped = f"{reverse('compare_campaigns')}?{urlencode({'c': keys[::-1]}, doseq=True)}"
    name = f"campaigns-{'-'.join(map(str, keys))}"
    return _answer(request, compare_campaigns(campaigns), name, swapped)


def _rounds(request: HttpRequest, campaign: Campaign, numbers: Sequence[int]) -> HttpResponse:
    found = compare_rounds(campaign, [round_at(campaign, number) for number in numbers])
    swapped = reverse("compare", args=[campaign.pk, *numbers[1::-1]])
    if len(numbers) > FEWEST:
        there = reverse("compare_many", args=[campaign.pk])
        swapped = f"{there}?{urlencode({'r': numbers[::-1]}, doseq=True)}"
    name = f"campaign-{campaign.pk}-rounds-{'-'.join(map(str, numbers))}"
    return _answer(request, found, name, swapped, campaign)


def _numbers(request: HttpRequest, name: str, noun: str) -> list[int] | HttpResponse:
    """The numbers that the address names, or the answer that says what is wrong with them."""
    given = request.GET.getlist(name)
    numbers = [number for text in given if (number := number_in(text)) is not None]
    if len(numbers) == len(given) and FEWEST <= len(numbers) <= MOST:
        return numbers
    strange = next((text for text in given if number_in(text) is None), None)
    told = f"{len(given)} chosen" if strange is None else repr(strange[:80])
    refusal = {
        "title": f"Choose {FEWEST} to {MOST} {noun}",
        "message": f"{name}: {told}; accepted: {FEWEST} to {MOST} numbers of {noun}.",
        "status": 400,
    }
    return render(request, "refused.html", {"refusal": refusal}, status=400)


def _answer(
    request: HttpRequest,
    found: SideBySide,
    name: str,
    swapped: str,
    campaign: Campaign | None = None,
) -> HttpResponse:
    """The page, or the same as data, table or Markdown."""
    everything = request.GET.get("only") == "all"
    if file_asked(request) == "csv":
        # Only here: pandas takes a second to load, which the page should not wait for.
        from pandas import DataFrame

        return table_answer(name, DataFrame(list(table_rows(found))))
    facts = partial(facts_of, found, everything=everything)
    if file := record_file(
        request, name, facts, markdown=lambda: [markdown_of(found, request.build_absolute_uri("/"))]
    ):
        return file
    context = {
        "comparison": found,
        "campaign": campaign,
        "only": "all" if everything else "diff",
        "swapped": swapped,
    }
    return render(request, "campaigns/compare.html", context)
