"""One lesson: what it says, what it rests on, what contradicts it, where it was used, its life."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from knowledge.curation.errors import CurationError, Forbidden
from knowledge.curation.people import may_propose, may_review
from knowledge.experience.lessons.decide import (
    approve_lesson,
    brought_by,
    restore,
    resubmit,
    retract_lesson,
    return_lesson,
)
from knowledge.experience.lessons.listing import entry_words, newer_versions_of_lesson
from knowledge.experience.lessons.new import LONGEST
from knowledge.forms.decide import ApproveForm, DecisionForm, ReasonForm, add_refusal
from knowledge.models import IN_USE, ConflictState, Lesson, LessonState
from knowledge.views.actions import refusing

OWN = "You proposed this lesson, so another curator decides on it."
PROPOSED, RETURNED, RETRACTED = LessonState.PROPOSED, LessonState.RETURNED, LessonState.RETRACTED
MOST_EVIDENCE, MOST_USES = 20, 20


@dataclass(frozen=True, slots=True)
class LessonStep:
    """A step of curation, the words of its button, and the states in which it makes sense."""

    take: Callable[..., Lesson]
    label: str
    states: tuple[str, ...]
    form: type[DecisionForm] = ReasonForm


STEPS = {
    "approve": LessonStep(approve_lesson, "Approve", (PROPOSED,), ApproveForm),
    "return": LessonStep(return_lesson, "Return to its author", (PROPOSED,)),
    "resubmit": LessonStep(resubmit, "Propose it again", (RETURNED,)),
    "retract": LessonStep(retract_lesson, "Retract", (PROPOSED, RETURNED, *IN_USE)),
    "restore": LessonStep(restore, "Restore as a proposal", (RETRACTED,)),
}


@dataclass(frozen=True, slots=True)
class OfferedStep:
    """A step as a page offers it."""

    name: str
    form: DecisionForm
    url: str

    @property
    def label(self) -> str:
        return STEPS[self.name].label

    @property
    def primary(self) -> bool:
        return self.name == "approve"


def refusal_of(name: str, lesson: Lesson, person: Any) -> str:
    """Why this person may not take this step, in a sentence; empty if they may."""
    own = lesson.proposed_by == person
    if name in ("approve", "return"):
        if not may_review(person):
            return "Reviewing needs the role curator or lead."
        return OWN if brought_by(lesson, person) else ""
    if name == "retract" and not (own and may_propose(person) and not lesson.in_use):
        return "" if may_review(person) else "Retracting needs the role curator or lead."
    if not may_propose(person):
        return "Proposing needs the role engineer, curator or lead."
    return "Only its author does this." if name in ("resubmit", "edit") and not own else ""


def offered_steps(
    lesson: Lesson, person: Any, seen: int | None, bound: DecisionForm | None
) -> list[OfferedStep]:
    """The steps that this person may take; `bound` takes the place of its empty twin."""
    found = []
    for name, step in STEPS.items():
        if lesson.state in step.states and not refusal_of(name, lesson, person):
            form = step.form(key=name, initial={"seen": seen})
            if bound is not None and bound.key == name:
                form = bound
            url = reverse("experience:lesson_step", args=[lesson.uuid, name])
            found.append(OfferedStep(name, form, url))
    return found


def may_edit(lesson: Lesson, person: Any) -> bool:
    """Whether its author may still write it anew."""
    return lesson.state in (PROPOSED, RETURNED) and not refusal_of("edit", lesson, person)


def lesson_at(key: UUID) -> Lesson:
    return get_object_or_404(Lesson.objects.select_related("proposed_by"), uuid=key)


@require_safe
def lesson(request: HttpRequest, key: UUID) -> HttpResponse:
    """Everything about one lesson, and the buttons that this person may use."""
    return lesson_page(request, lesson_at(key))


@require_POST
@refusing(lesson_at)
def lesson_step(request: HttpRequest, key: UUID, step: str) -> HttpResponse:
    """Take one step of curation; rights come before anything that was written."""
    if step not in STEPS:
        raise Http404(f"no step '{step}'; accepted: {', '.join(STEPS)}")
    found = lesson_at(key)
    if forbidden := refusal_of(step, found, request.user):
        raise Forbidden(forbidden)
    form = STEPS[step].form(request.POST, key=step)
    if form.is_valid():
        said = form.cleaned_data
        try:
            STEPS[step].take(found, request.user, said["why"], seen=said.get("seen"))
        except CurationError as error:
            add_refusal(form, error)
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
        "stale": newer_versions_of_lesson(found),
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
