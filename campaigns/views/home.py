"""What needs me, what runs, what is mine and what is done; and the events of all campaigns."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from campaigns.api.serializers import EventSerializer
from campaigns.models import Campaign, Event
from campaigns.models.campaign import measured_here
from campaigns.records.review_queue import review_queue, rows_of_queue
from campaigns.reports.live import overview_version
from campaigns.reports.rows import kept_rows
from campaigns.reports.team.listing import campaign_lines, running_cards
from campaigns.views.lookup import wants_fragment
from knowledge.views.formats import list_file
from knowledge.views.me import keep_cookie

REVIEWS, RUNNING, FINISHED, RECENT, EVENTS = 5, 10, 10, 5, 50
# A person who comes back later than this begins another visit.
VISIT, VISITS = timedelta(minutes=30), "visits"
# Where as many campaigns are shown, people know what one is.
FEW = 5
# What happens inside a round is for the campaign's own page; its verdict is news to everyone.
DETAILS = ("evaluated", "round_opened", "round_closed", "screened", "target_set")


@require_safe
@vary_on_headers("HX-Request")
def home(request: HttpRequest) -> HttpResponse:
    """The whole page, or the running campaigns alone: 204 when nothing moved since `?since=`."""
    now = timezone.now()
    version = overview_version(now)
    if wants_fragment(request) and request.GET.get("since") == version:
        return HttpResponse(status=204)
    running = list(Campaign.objects.unfinished().for_list()[:RUNNING])
    context: dict[str, Any] = {"version": version}
    if wants_fragment(request):
        context["running"] = running_cards(running, kept_rows(running), now)
        return render(request, "campaigns/partials/running.html", context)
    person: Any = request.user
    waiting = review_queue(person).mine
    since, visits = _visits(request, now)
    done_here = Campaign.objects.at_work().for_list().filter(finished_at__isnull=False)
    finished = done_here.order_by("-finished_at")
    fresh = list(finished.filter(finished_at__gt=since)[:FINISHED]) if since else []
    done = fresh or list(finished[:RECENT])
    own = list(Campaign.objects.in_sight().for_list().filter(created_by=person)[:RECENT])
    kept = kept_rows([*running, *done, *own])
    lines = campaign_lines([*done, *own], kept)
    shown = {*running, *done, *own}
    context |= {
        "running": running_cards(running, kept, now),
        "needed": rows_of_queue(waiting[:REVIEWS]),
        "waiting": len(waiting),
        "since": since if fresh else None,
        "finished": lines[: len(done)],
        "own": lines[len(done) :],
        "is_empty": not (shown or Campaign.objects.measured_here().exists()),
        "offers_sample": 0 < len(shown) < FEW and not any(c.is_sample for c in shown),
    }
    response = render(request, "campaigns/home.html", context)
    return keep_cookie(request, response, VISITS, visits)


def _visits(request: HttpRequest, now: datetime) -> tuple[datetime | None, str]:
    """When the person was here before this visit, None on the first; and the cookie to keep.

    A cookie, as reading a page writes nothing to the database.
    """
    before, _, last = request.COOKIES.get(VISITS, "").partition("~")
    seen = [_moment(text) for text in (before, last)]
    if seen[1] is None or now - seen[1] > VISIT:
        seen[0] = seen[1]
    return seen[0], f"{seen[0].isoformat() if seen[0] else ''}~{now.isoformat()}"


def _moment(text: str) -> datetime | None:
    """A moment as the cookie has it; None for anything else."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else None


@require_safe
def events(request: HttpRequest) -> HttpResponse:
    """What happened in all campaigns, the newest first; `?page=` counts from 1, `?format=`."""
    changes = Event.objects.filter(measured_here("campaign__")).exclude(kind__in=DETAILS)
    newest = changes.select_related("campaign", "round").order_by("-pk")
    if file := list_file(request, "events", newest, EventSerializer, "message kind campaign at"):
        return file
    page = Paginator(newest, EVENTS).get_page(request.GET.get("page"))
    return render(request, "campaigns/events.html", {"page": page})
