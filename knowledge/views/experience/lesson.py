"""One lesson: what it says, what it rests on, what contradicts it, where it was used, its life."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.experience.lessons.listing import entry_words, lesson_stale_words
from knowledge.experience.lessons.new import LONGEST
from knowledge.forms.decide import DecisionForm, add_refusal
from knowledge.models import ConflictState, Lesson, LessonState
from knowledge.views.experience.lesson_offers import (
    OWN,
    STEPS,
    may_edit,
    offered_steps,
    refusal_of,
)
from knowledge.views.refusals import refused

MOST_EVIDENCE, MOST_USES = 20, 20


def lesson_at(key: UUID) -> Lesson:
    return get_object_or_404(Lesson.objects.select_related("proposed_by"), uuid=key)


@require_safe
def lesson(request: HttpRequest, key: UUID) -> HttpResponse:
    """Everything about one lesson, and the buttons that this person may use."""
    return lesson_page(request, lesson_at(key))


@require_POST
def lesson_step(request: HttpRequest, key: UUID, step: str) -> HttpResponse:
    """Take one step of curation; rights come before anything that was written."""
    if step not in STEPS:
        raise Http404(f"no step '{step}'; accepted: {', '.join(STEPS)}")
    found = lesson_at(key)
    forbidden = refusal_of(step, found, request.user)
    back = found.get_absolute_url()
    if forbidden:
        return refused(request, Forbidden(forbidden), back=back, status=403)
    form = STEPS[step].form(request.POST, key=step)
    if form.is_valid():
        said = form.cleaned_data
        try:
            STEPS[step].take(found, request.user, said["why"], seen=said.get("seen"))
        except CurationError as error:
            add_refusal(form, error)
        except Forbidden as error:
            return refused(request, error, back=back, status=403)
        except Conflict as error:
            return refused(request, error, back=back, status=409)
        else:
            last = found.changes.first()
            messages.success(request, f"Lesson {last.done if last else 'changed'}.")
            return redirect(found)
    return lesson_page(request, lesson_at(key), bound=form, status=422)


def lesson_page(
    request: HttpRequest, found: Lesson, bound: DecisionForm | None = None, status: int = 200
) -> HttpResponse:
    """The page; `bound` is a form that was refused and takes the place of its empty twin."""
    history = list(found.changes.select_related("by"))
    seen = history[0].pk if history else None
    steps = offered_steps(found, request.user, seen, bound)
    waits = found.state == LessonState.PROPOSED
    asked = found.disagreements.select_related("first__track", "by")
    context: dict[str, Any] = {
        "lesson": found,
        "texts": [(name, getattr(found, name)) for name in LONGEST],
        "sides": [_side(found, agrees=True), _side(found, agrees=False)],
        "open": [each for each in asked if each.state == ConflictState.OPEN],
        "decided": [each for each in asked if each.state == ConflictState.DECIDED],
        "uses": found.adoptions.all()[:MOST_USES],
        "used": found.adoptions.count(),
        "stale": lesson_stale_words(found),
        "history": history,
        "steps": steps,
        "own": OWN if waits and refusal_of("approve", found, request.user) == OWN else "",
        "edit": may_edit(found, request.user),
    }
    return render(request, "knowledge/experience/lesson.html", context, status=status)


def _side(found: Lesson, *, agrees: bool) -> dict[str, Any]:
    rows = found.evidence.filter(agrees=agrees).select_related("entry__track", "by")
    return {
        "name": "confirms" if agrees else "contradicts",
        "count": rows.count(),
        "rows": [(row, entry_words(row.entry)) for row in rows[:MOST_EVIDENCE]],
    }
