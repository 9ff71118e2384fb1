"""What belongs to the team and to the site: jobs, the audit, health and the theme."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from campaigns.models import Campaign, Problem
from campaigns.reports.team.audit import KINDS, address_of, audit_rows
from campaigns.reports.team.jobs import queued_jobs, running_jobs
from campaigns.reports.team.listing import campaign_lines
from campaigns.reports.team.weeks import COUNTED, people, weekly_table, weeks
from campaigns.reports.theme import COOKIE, Theme
from campaigns.views.lookup import wants_fragment
from knowledge.curation.people import is_lead
from knowledge.models import Platform
from knowledge.views.formats import list_file
from knowledge.views.me import keep_cookie

if TYPE_CHECKING:
    from pandas import DataFrame

PER_PAGE, RUNNING = 50, 20
# Of each kind of place that the palette offers.
MOST_PLACES = 6
# Words → the name of the address; those that a person types the first letters of.
PLACES = {
    "Home": "home",
    "Campaigns": "campaigns",
    "New campaign": "new_campaign",
    "Bring a kernel": "new_problem",
    "Jobs": "jobs",
    "Workers": "workers",
    "Events": "events",
    "Team": "team",
    "Repositories": "repositories",
    "Wiki": "knowledge:home",
    "Values": "knowledge:specs",
    "Compare platforms": "knowledge:compare",
    "Propose a value": "knowledge:propose",
    "Experience": "experience:home",
    "Strategies": "experience:strategies",
    "Your tokens": "tokens",
    "HTTP API": "api_docs",
}
# What bears a name of its own: kind → finds its rows, and the field of the name.
NAMED: dict[str, tuple[Callable[[], Any], str]] = {
    "Campaigns": (Campaign.objects.in_sight, "title"),
    "Platforms": (Platform.objects.all, "name"),
    "Problems": (Problem.objects.all, "title"),
}


@require_safe
@vary_on_headers("HX-Request")
def jobs(request: HttpRequest) -> HttpResponse:
    """What runs where, and what waits for what; for htmx the tables alone."""
    context = {
        "running": running_jobs(timezone.now(), float(settings.KOPT_LEASE_S)),
        "queued": queued_jobs(),
    }
    part = "campaigns/partials/jobs.html"
    return render(request, part if wants_fragment(request) else "campaigns/jobs.html", context)


@require_safe
@vary_on_headers("HX-Request")
def palette(request: HttpRequest) -> HttpResponse:
    """`?q=` some letters: pages, campaigns, platforms and problems that have them in their name."""
    asked = request.GET.get("q", "").replace("\0", "").strip()
    places = [(words, reverse(name)) for words, name in PLACES.items() if _fits(asked, words)]
    groups = {"Pages": places[:MOST_PLACES]}
    for kind, (every, field) in NAMED.items() if asked else ():
        rows = every().filter(**{f"{field}__icontains": asked}).order_by("-pk")[:MOST_PLACES]
        groups[kind] = [(getattr(row, field), row.get_absolute_url()) for row in rows]
    context = {"groups": {kind: rows for kind, rows in groups.items() if rows}, "asked": asked}
    part = "campaigns/partials/palette.html"
    return render(request, part if wants_fragment(request) else "campaigns/palette.html", context)


def _fits(asked: str, words: str) -> bool:
    return all(part in words.lower() for part in asked.lower().split())


@require_safe
def shortcuts(request: HttpRequest) -> HttpResponse:
    """The keys that pages take."""
    return render(request, "campaigns/shortcuts.html")


def _weekly(now: datetime) -> DataFrame:
    return weekly_table(now).rename_axis("week").reset_index()


@require_safe
def team(request: HttpRequest) -> HttpResponse:
    """What the team did by week, its running campaigns, and its people; `?format=` the weeks."""
    now = timezone.now()
    by_week = partial(_weekly, now)
    if file := list_file(request, "team", as_table=by_week):
        return file
    running = Campaign.objects.unfinished().for_list()[:RUNNING]
    context = {
        "weeks": weeks(now),
        "counted": COUNTED,
        "lines": campaign_lines(list(running)),
        "people": people(),
        "may_audit": is_lead(request.user),
    }
    return render(request, "campaigns/team.html", context)


def _audit(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {"url": address_of(row)} for row in rows]


@require_safe
def audit(request: HttpRequest) -> HttpResponse:
    """Who did what, the newest first, for leads; `?who= &kind= &page= &format=`."""
    if not is_lead(request.user):
        raise PermissionDenied("the audit needs the role lead")
    asked = {key: request.GET.get(key, "").replace("\0", "") for key in ("who", "kind")}
    rows = audit_rows(**asked)
    listed = partial(_audit, rows)
    if file := list_file(request, "audit", listed, head="at who action subject why"):
        return file
    page: Any = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    page.object_list = _audit(page)
    people = User.objects.order_by("username").values_list("username", flat=True)
    context = {"page": page, "asked": asked, "kinds": KINDS, "people": people}
    return render(request, "campaigns/audit.html", context)


@login_not_required
@require_safe
def health(request: HttpRequest) -> JsonResponse:
    """Answer 200, or 503 when the database does not answer."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return JsonResponse({"database": "unreachable"}, status=503)
    return JsonResponse({"database": "ok"})


@login_not_required
@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Store the choice and go back to where it was made."""
    back = request.POST.get("next", "/")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure()):
        back = "/"
    chosen = Theme.read(request.POST.get("theme", ""))
    return keep_cookie(request, HttpResponseRedirect(back), COOKIE, chosen.value)
