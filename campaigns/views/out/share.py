"""What of a campaign leaves kopt: the page that offers it, and badges, which name a baseline."""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import get_conditional_response, patch_cache_control, set_response_etag
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from campaigns.models import Campaign
from campaigns.records.campaigns import target_of
from campaigns.reports.rows import some_rows
from campaigns.reports.sheet import BASELINE, campaign_sheet
from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.decision import VerdictWord as Word
from campaigns.steps.lifecycle.set_project import may_set_project
from campaigns.views.lookup import campaign_at, round_at
from knowledge.curation.people import is_lead
from knowledge.curation.projects import projects_of
from knowledge.curation.signed_addresses import by_key, signed
from knowledge.models import WorkKind, project_of

LABEL = "kopt"
# White on each has a contrast of at least 4.5; the words say the same.
FASTER, OPEN, OTHER = "#1f6f43", "#7a5200", "#5a6068"
COLOURS = {Word.ACCEPTED: FASTER, Word.NEEDS_REVIEW: OPEN, Word.RUNNING: OPEN}
# Of this font at this size, on average; the picture is told to keep to it.
CHARACTER_PX, MARGIN_PX = 6.0, 6
# XML has no place for these.
CONTROL = re.compile(r"[\x00-\x1f\x7f\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Badge:
    text: str
    colour: str


@require_safe
@never_cache
def share(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Every address of the campaign that others can use; those with a key hold no login."""
    campaign = campaign_at(campaign_id)
    best = campaign.incumbent.round if campaign.incumbent else None
    badge = reverse("campaign_badge", args=[campaign.pk])
    page = request.build_absolute_uri(campaign.get_absolute_url())
    badge_url = signed(request, badge)
    context = {
        "campaign": campaign,
        "is_lead": is_lead(request.user),
        "project": project_of(WorkKind.CAMPAIGN, campaign.pk),
        "projects": projects_of(request.user) if may_set_project(campaign, request.user) else (),
        "best": best,
        "badge": badge,
        "badge_url": badge_url,
        "badge_markdown": f"[![{LABEL}]({badge_url})]({page})",
        "round_badge_url": signed(request, reverse("round_badge", args=[campaign.pk, best.number]))
        if best
        else "",
        "feeds": [
            (words, signed(request, address))
            for words, address in (
                ("What happens in this campaign", reverse("campaign_feed", args=[campaign.pk])),
                ("All campaigns", reverse("campaigns_feed")),
                ("What waits for a decision", reverse("review_feed")),
            )
        ],
    }
    return render(request, "campaigns/out/share.html", context)


@require_safe
@by_key
def campaign_badge(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """The best round against v0; while it runs, against its incumbent."""
    sheet = campaign_sheet(_measured_here(campaign_id), timezone.now())
    gain = sheet.shown.gain
    if gain is None or not sheet.is_faster:
        known = "no gain shown" if sheet.campaign.is_finished else "no gain shown yet"
        return _drawn(request, Badge(f"{known} over {BASELINE}", OTHER))
    rival = BASELINE if sheet.against == 1 else f"round {sheet.against}"
    return _drawn(request, Badge(_words(gain, rival), FASTER if gain.low > 0 else OTHER))


@require_safe
@by_key
def round_badge(request: HttpRequest, campaign_id: int, number: int) -> HttpResponse:
    """One round against what it was measured beside."""
    campaign = _measured_here(campaign_id)
    round_at(campaign, number)  # 404 where there is none
    row = some_rows(campaign, [number], target_of(campaign))[number]
    rival = BASELINE if row.against in (None, 1) else f"round {row.against}"
    more = f", {_words(row.gain, rival)}" if row.gain and not row.is_baseline else ""
    return _drawn(request, Badge(f"{row.word.words}{more}", COLOURS.get(row.word, OTHER)))


def _measured_here(campaign_id: int) -> Campaign:
    """The campaign; 404 for a sample, whose gain nobody here has measured."""
    campaign = campaign_at(campaign_id)
    if campaign.is_sample:
        raise Http404("a sample has no badge")
    return campaign


def _words(gain: Gain, rival: str) -> str:
    return f"{gain.words} vs {rival}, n {gain.pairs}"


def _drawn(request: HttpRequest, badge: Badge) -> HttpResponse:
    text = CONTROL.sub(" ", badge.text)
    label_length, text_length = (round(CHARACTER_PX * len(each)) for each in (LABEL, text))
    label_width, text_width = label_length + 2 * MARGIN_PX, text_length + 2 * MARGIN_PX
    context = {
        "label": LABEL,
        "text": text,
        "colour": badge.colour,
        "label_length": label_length,
        "text_length": text_length,
        "label_width": label_width,
        "text_width": text_width,
        "text_x": label_width + MARGIN_PX,
        "width": label_width + text_width,
    }
    answer = render(request, "campaigns/out/badge.svg", context, content_type="image/svg+xml")
    # A picture that others show again has to be asked for whether it is still so.
    patch_cache_control(answer, no_cache=True)
    set_response_etag(answer)
    return get_conditional_response(request, answer["ETag"], response=answer) or answer
