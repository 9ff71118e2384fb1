"""One measurement of the series: what it is compared with, what differs, and a person's answer."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from campaigns.models import Campaign, SeriesAnswerWord
from campaigns.records.campaigns import goal_of, intake_of, stop_policy_of
from campaigns.records.series import SeriesShown, series_shown
from campaigns.rules.noise.series import NAMES
from campaigns.rules.target.goal import GoalKind
from campaigns.steps.review.answer_series import answer_series, refusal_of
from campaigns.views.lookup import campaign_at
from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.lookup.waiting import queue_behind


@require_http_methods(["GET", "HEAD", "POST"])
def series_entry(request: HttpRequest, campaign_id: int, key: int) -> HttpResponseBase:
    """GET shows it; POST answers it, and opens the next one of the queue it was opened from."""
    campaign = campaign_at(campaign_id)
    if request.method != "POST":
        return _page(request, campaign, key)
    said = {name: request.POST.get(name, "") for name in ("answer", "why")}
    try:
        answer_series(campaign, key, said["answer"], said["why"], request.user)
    except Forbidden as error:
        return _page(request, campaign, key, error, status=403)
    except CurationError as error:
        return _page(request, campaign, key, error, status=422)
    except Conflict as error:
        return _page(request, campaign, key, error, status=409)
    messages.success(request, "Your answer is stored, with your name.")
    if said["answer"] == SeriesAnswerWord.REOPENED:
        return redirect(same_choices(campaign))
    waited = queue_behind(f"?queue={request.POST.get('queue', '')}")
    if waited is None:
        return redirect("series_entry", campaign.pk, key)
    return redirect(reverse("review_next") + (f"?kind={waited}" if waited else ""))


def _page(
    request: HttpRequest,
    campaign: Campaign,
    key: int,
    refused: Exception | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    shown = series_shown(campaign, key)
    if shown is None:
        raise Http404(f"campaign {campaign.pk} has no measurement {key} in its series")
    context = {
        "campaign": campaign,
        "shown": shown,
        "environment": _environment(shown),
        "refusal": refusal_of(shown.entry, request.user) if shown.waits else "",
        "new_campaign": same_choices(campaign),
        "queue": request.POST.get("queue", request.GET.get("queue", "")),
        "refused": refused,
        "typed": request.POST.get("why", ""),
    }
    return render(request, "campaigns/series_entry.html", context, status=status)


def _environment(shown: SeriesShown) -> list[dict[str, str]]:
    """Name, before and after of what it ran with; without what neither knows."""
    was, now = (shown.was.environment if shown.was else {}), shown.now.environment
    rows = [{"name": n, "before": was.get(n, ""), "after": now.get(n, "")} for n in NAMES]
    return [row for row in rows if row["before"] or row["after"]]


def same_choices(campaign: Campaign) -> str:
    """The form of a new campaign with the choices of this one."""
    goal, policy = goal_of(campaign), stop_policy_of(campaign)
    chosen: dict[str, Any] = {
        "problem": campaign.problem.slug,
        "platform": campaign.platform.slug,
        "backend": campaign.backend,
        "rounds": policy.max_rounds,
        "goal": round(100 * policy.target_fraction),
        "restart": policy.restart.value,
        **{name: text for name, text in intake_of(campaign).stored.items() if text},
    }
    if goal.kind is GoalKind.BASELINE:
        chosen["target"] = f"baseline:{goal.fraction:g}"
    elif goal.value is not None:
        chosen["target"] = f"{goal.metric} {goal.stored['op']} {goal.value:g}"
    return f"{reverse('new_campaign')}?{urlencode(chosen)}"
