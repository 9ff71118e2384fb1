"""The lessons: what worked and what did not, side by side."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from knowledge.curation.people import may_propose
from knowledge.experience.lessons.listing import (
    BY_SCOPE,
    STATES,
    LessonFilters,
    cards,
    left_out,
    lessons_matching,
)
from knowledge.experience.lessons.new import LONGEST, lesson_values
from knowledge.models import Lesson, LessonState
from knowledge.views.tables import csv_answer

PER_COLUMN = 30
LONGEST_QUERY = 500
CSV = ("id", "state", *LONGEST, *Lesson.SCOPE, "avoid", "confirmed", "contradicted")


@require_safe
def lessons(request: HttpRequest) -> HttpResponse:
    """`?op= &backend= &platform= &arch= &state= &q= &page= &format=csv`, all optional."""
    asked, error = _query_of(request)
    found = lessons_matching(asked) if not error else Lesson.objects.none()
    if request.GET.get("format") == "csv" and not error:
        return csv_answer("lessons", CSV, (vars(row) | {"id": row.uuid} for row in found))
    pages = [_page(request, found.filter(avoid=avoid)) for avoid in (False, True)]
    longest = max(pages, key=lambda page: int(page.paginator.num_pages))
    context = {
        "asked": asked,
        "error": error,
        "columns": [
            (name, words, page.paginator.count, cards(page.object_list))
            for (name, words), page in zip(
                (("worked", "Worked"), ("did-not", "Did not work")), pages, strict=True
            )
        ],
        "page": longest,
        "count": sum(page.paginator.count for page in pages),
        "left_out": left_out(asked) if not error else [],
        "scopes": [(name, getattr(asked, name), lesson_values(name)) for name in BY_SCOPE],
        "states": LessonState.choices,
        "may_propose": may_propose(request.user),
    }
    return render(
        request, "knowledge/experience/lessons.html", context, status=400 if error else 200
    )


def _page(request: HttpRequest, rows: Any) -> Any:
    """This page of one column; nothing where the other one is longer."""
    paginator = Paginator(rows, PER_COLUMN)
    number = request.GET.get("page", "1")
    wanted = int(number) if number.isascii() and number.isdigit() and len(number) < 7 else 1
    page = paginator.get_page(wanted)
    if wanted > paginator.num_pages:
        page.object_list = []
    return page


def _query_of(request: HttpRequest) -> tuple[LessonFilters, str]:
    given = {name: request.GET.get(name, "") for name in (*BY_SCOPE, "state", "q")}
    plain = {name: text.replace("\0", "").strip() for name, text in given.items()}
    state = plain["state"]
    if state not in STATES:
        accepted = ", ".join(STATES[1:])
        return LessonFilters(), f"state: '{state[:40]}'; accepted: {accepted}, or none for in use"
    if len(plain["q"]) > LONGEST_QUERY:
        words = f"q: {len(plain['q'])} characters; accepted: at most {LONGEST_QUERY}"
        return LessonFilters(**(plain | {"q": plain["q"][:LONGEST_QUERY]})), words
    return LessonFilters(**plain), ""
