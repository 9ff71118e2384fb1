"""One attempt: what it did, where, why it was tried, what followed; and changes of its standing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_POST, require_safe

from knowledge.api.experience import ExperienceSerializer
from knowledge.curation.errors import CurationError
from knowledge.curation.people import may_review
from knowledge.experience.attempts.merging import (
    MOST_OF_GROUP,
    are_opposite,
    mask,
    merge,
    unmask,
    unmerge,
)
from knowledge.experience.attempts.summary import strategy_urls
from knowledge.experience.lessons.listing import newer_versions
from knowledge.models import Disagreement, EntryStanding, Experience, Platform
from knowledge.views.actions import refusing
from knowledge.views.formats import record_file

MOST_ADOPTIONS = 20


@require_safe
def entry(request: HttpRequest, key: UUID) -> HttpResponse:
    """The page of one attempt; people see it whatever its standing is."""
    found = entry_at(key)
    file = record_file(request, f"experience-{key}", found, ExperienceSerializer)
    return file or entry_page(request, found, {})


def entry_at(key: UUID) -> Experience:
    """The entry with its context, or 404."""
    rows = Experience.objects.select_related("track", "merged_into__track", "batch", "author")
    found: Experience = get_object_or_404(rows, uuid=key)
    return found


def entry_page(
    request: HttpRequest, found: Experience, errors: dict[str, str], status: int = 200
) -> HttpResponse:
    """The page; with `errors` of a refused form, field → message, and what was typed."""
    track = found.track
    before, after = (found.metrics.get(when) or {} for when in ("before", "after"))
    conflicts = Disagreement.objects.filter(Q(first=found) | Q(second=found))
    context: dict[str, Any] = {
        "entry": found,
        "track": track,
        "strategy_url": strategy_urls([track.strategy])[track.strategy],
        "platform": Platform.objects.filter(slug=track.platform).first(),
        "stale": newer_versions(found),
        "metrics": [(name, before.get(name), after.get(name)) for name in {**before, **after}],
        "evidence": found.lessons.select_related("lesson"),
        "adoptions": found.adoptions.all()[:MOST_ADOPTIONS],
        "merged": found.merged.select_related("track")[:MOST_OF_GROUP],
        "conflicts": conflicts.select_related("first__track", "second__track", "lesson"),
        "changes": found.changes.select_related("by", "other__track"),
        "rerun": optional_url("round_rerun", found.campaign, found.round),
        "new_lesson": optional_url("experience:lesson_new"),
        "may_decide": may_review(request.user),
        "same": _same_idea(found),
        "errors": errors,
        "said": request.POST,
    }
    return render(request, "knowledge/experience/entry.html", context, status=status)


def optional_url(name: str, *args: Any) -> str:
    """The address of this name; "" where there is none or an argument is missing."""
    if None in args:
        return ""
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""


def _same_idea(found: Experience) -> list[tuple[Experience, bool]]:
    """Entries of the same idea and context to merge it into, and whether that needs a decision."""
    if not found.params_key or found.standing != EntryStanding.COUNTS:
        return []
    rows = Experience.objects.filter(
        track=found.track, params_key=found.params_key, standing=EntryStanding.COUNTS
    ).exclude(pk=found.pk)
    return [(row, are_opposite(row, found)) for row in rows.order_by("pk")[:MOST_OF_GROUP]]


Step = Callable[[Experience, Any, QueryDict], object]


def _merge(entry: Experience, by: Any, said: QueryDict) -> object:
    into = _named(said.get("into", ""))
    return merge([entry], into, by, said.get("why", ""), said.get("decision", ""))


STEPS: dict[str, tuple[Step, str]] = {
    "mask": (
        lambda entry, by, said: mask(entry, by, said.get("why", "")),
        "The entry is masked: it is hidden from recommendations.",
    ),
    "unmask": (
        lambda entry, by, said: unmask(entry, by, said.get("why", "")),
        "The entry counts again.",
    ),
    "merge": (_merge, "The entry is merged; only the other one counts."),
    "unmerge": (
        lambda entry, by, said: unmerge(entry, by, said.get("why", "")),
        "The entry is taken out of its merge and counts again.",
    ),
}


@require_POST
@refusing(entry_at)
def change_entry(request: HttpRequest, key: UUID, verb: str) -> HttpResponse:
    """Do one of `STEPS`; what is refused is told on the page, a missing right is 403."""
    found = entry_at(key)
    step, sentence = STEPS[verb]
    try:
        step(found, request.user, request.POST)
    except CurationError as error:
        return entry_page(request, found, {error.field: error.message, "verb": verb}, status=422)
    messages.success(request, sentence)
    return redirect(found)


def _named(text: str) -> Experience:
    """The entry with this id, or with this address. CurationError where there is none."""
    plain = text.strip().rstrip("/").rpartition("/")[2]
    try:
        return Experience.objects.get(uuid=UUID(plain))
    except (ValueError, Experience.DoesNotExist):
        raise CurationError("into", f"no entry is called {plain[:80]!r}") from None
