"""Projects: what each person sees of them, and for leads who is in each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from knowledge.curation.errors import Conflict, CurationError
from knowledge.curation.people import is_lead
from knowledge.curation.projects import hidden_from, new_project, rename, set_members
from knowledge.models import Project
from knowledge.models.sight import seeing
from knowledge.views.formats import list_file

HEAD = "name members work"


class OwnEyes:
    """Middleware: every request sees what its person may, whichever way it says who that is.

    It stands outside of all that answers, so that nothing is shown to eyes that see everything.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        known: dict[int | None, frozenset[int]] = {}

        def eyes() -> frozenset[int]:
            # A token and a signed address tell of their person later than a session does.
            person = getattr(request, "user", None) or AnonymousUser()
            if person.pk not in known:
                known[person.pk] = hidden_from(person)
            return known[person.pk]

        with seeing(eyes):
            return self.get_response(request)


@require_http_methods(["GET", "HEAD", "POST"])
def projects(request: HttpRequest) -> HttpResponse:
    """GET lists them; POST makes one."""
    return _answer(request, None)


@require_POST
def project(request: HttpRequest, key: int) -> HttpResponse:
    """Set the name of one and its members, named with spaces between."""
    return _answer(request, key)


def _answer(request: HttpRequest, key: int | None) -> HttpResponse:
    if not is_lead(request.user):
        raise PermissionDenied("projects need the role lead")
    said = {name: request.POST.get(name, "") for name in ("name", "members")}
    error: Exception | None = None
    if request.method == "POST":
        names = said["members"].replace(",", " ").split()
        try:
            if key is None:
                new_project(said["name"], names, request.user)
            else:
                with transaction.atomic():
                    changed = get_object_or_404(Project, pk=key)
                    rename(changed, said["name"], request.user)
                    set_members(changed, names, request.user)
        except (CurationError, Conflict) as refusal:
            error = refusal
        else:
            messages.success(request, "Stored. It counts from the next page that anybody opens.")
            return redirect("projects")
    rows = [
        _record(row)
        for row in Project.objects.annotate(count=Count("work")).prefetch_related("members")
    ]
    if file := list_file(request, "projects", rows, head=HEAD):
        return file
    context = {"rows": rows, "error": error, "said": said, "key": key}
    return render(request, "knowledge/projects.html", context, status=422 if error else 200)


def _record(row: Any) -> dict[str, Any]:
    members = " ".join(sorted(user.get_username() for user in row.members.all()))
    return {"id": row.pk, "name": row.name, "members": members, "work": row.count}
