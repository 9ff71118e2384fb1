"""Record a lesson, from nothing, from a round or from an attempt; and write one anew."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from knowledge.curation.errors import CurationError, Forbidden
from knowledge.curation.people import PROPOSE, ROLES, may_propose
from knowledge.experience.lessons.ask import similar_lessons
from knowledge.experience.lessons.decide import edit_lesson, propose_lesson
from knowledge.experience.lessons.listing import entry_words
from knowledge.experience.lessons.new import LONGEST, known_values
from knowledge.forms.decide import add_refusal
from knowledge.forms.lesson import UUID_IN_TEXT, LessonForm
from knowledge.models import IN_USE, Experience, Lesson
from knowledge.views.actions import refusing
from knowledge.views.experience.lesson import lesson_at, refusal_of

ANYWAY = "anyway"  # the button that stores a lesson beside those that say nearly the same
MOST_KNOWN = 3


@require_http_methods(["GET", "HEAD", "POST"])
def lesson_new(request: HttpRequest) -> HttpResponse:
    """GET fills the form from `?entry=` or `?campaign= &round=`; POST stores the proposal."""
    if not may_propose(request.user):
        roles = [role for role, permissions in ROLES.items() if PROPOSE in permissions]
        context = {"roles": roles}
        return render(request, "knowledge/experience/lesson_new.html", context, status=403)
    entry = _entry_of(request.GET)
    if request.method != "POST":
        known = _known(entry.track.strategy) if entry else []
        form = LessonForm(initial=_from_entry(entry) if entry else {})
        missing = "" if entry else _missing(request.GET)
        return _page(request, form, entry=entry, similar=known, missing=missing)
    form = LessonForm(request.POST)
    similar: list[Lesson] = []
    if form.is_valid():
        said = form.cleaned_data
        if request.POST.get("do") != ANYWAY:
            similar = similar_lessons(said["takeaway"], strategy=said["strategy"])
        if similar:
            return _page(request, form, entry=entry, similar=similar, asked=True)
        try:
            made = propose_lesson(form.lesson(entry.campaign if entry else None), request.user)
        except CurationError as error:
            add_refusal(form, error)
        else:
            messages.success(request, "Lesson proposed. Another curator will review it.")
            return redirect(made)
    return _page(request, form, entry=entry, status=422)


@require_http_methods(["GET", "HEAD", "POST"])
@refusing(lesson_at)
def lesson_edit(request: HttpRequest, key: UUID) -> HttpResponse:
    """Its author writes it anew before it is approved."""
    found = lesson_at(key)
    if forbidden := refusal_of("edit", found, request.user):
        raise Forbidden(forbidden)
    if request.method != "POST":
        last = found.changes.first()
        return _page(
            request, LessonForm(initial=_from_lesson(found, last.pk if last else None)), found
        )
    form = LessonForm(request.POST)
    if form.is_valid():
        said = form.cleaned_data
        new = form.lesson(found.campaign)
        try:
            edit_lesson(found, new, request.user, said["why"], seen=said["seen"])
        except CurationError as error:
            add_refusal(form, error)
        else:
            messages.success(request, "Lesson edited.")
            return redirect(found)
    return _page(request, form, found, status=422)


def _page(
    request: HttpRequest,
    form: LessonForm,
    lesson: Lesson | None = None,
    *,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    context = {
        "form": form,
        "lesson": lesson,
        "known": [(name, known_values(name)) for name in Lesson.SCOPE],
        **more,
    }
    if more.get("entry"):
        context["words"] = entry_words(more["entry"])
    return render(request, "knowledge/experience/lesson_new.html", context, status=status)


def _entry_of(asked: QueryDict) -> Experience | None:
    """The attempt that the address names by its id, or by its round."""
    rows = Experience.objects.select_related("track")
    named = UUID_IN_TEXT.fullmatch(asked.get("entry", ""))
    if named:
        return rows.filter(uuid=named[0]).first()
    numbers = [asked.get(name, "") for name in ("campaign", "round")]
    if all(each.isascii() and each.isdigit() and len(each) < 10 for each in numbers):
        return rows.filter(campaign=int(numbers[0]), round=int(numbers[1])).first()
    return None


def _missing(asked: QueryDict) -> str:
    """What the address names and nobody recorded, in a sentence."""
    if asked.get("round"):
        return (
            "This round is no recorded attempt: it is open, or a machine failed and not the idea."
        )
    return "There is no such attempt." if asked.get("entry") else ""


def _known(strategy: str) -> list[Lesson]:
    return list(Lesson.objects.filter(state__in=IN_USE, strategy=strategy)[:MOST_KNOWN])


def _from_entry(entry: Experience) -> dict[str, Any]:
    """What an attempt says by itself; the takeaway and where it holds are for a person to say."""
    track = entry.track
    facts = [entry.title or track.strategy, entry.change, entry.precondition]
    signal = [entry_words(entry), *(str(each) for each in entry.evidence)]
    if track.bottleneck != "unknown":
        signal.insert(1, f"limited by {track.get_bottleneck_display()} before")
    scope = {name: getattr(track, name) for name in Lesson.SCOPE}
    return scope | {
        "context": "\n".join(text for text in facts if text)[: LONGEST["context"]],
        "signal": "\n".join(signal)[: LONGEST["signal"]],
        "avoid": "" if entry.label in ("success", "small", "micro") else "1",
        "evidence": str(entry.uuid),
    }


def _from_lesson(lesson: Lesson, seen: int | None) -> dict[str, Any]:
    rests = lesson.evidence.filter(agrees=True).values_list("entry__uuid", flat=True)[:50]
    names = (*LONGEST, *Lesson.SCOPE)
    return {name: getattr(lesson, name) for name in names} | {
        "avoid": "1" if lesson.avoid else "",
        "evidence": "\n".join(str(uuid) for uuid in rests),
        "seen": seen,
    }
