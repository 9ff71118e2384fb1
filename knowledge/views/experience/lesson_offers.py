"""What a person may do to a lesson now: which forms a page shows, and why others are missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from knowledge.curation.people import may_propose, may_review
from knowledge.experience.lessons import (
    approve_lesson,
    restore,
    resubmit,
    retract_lesson,
    return_lesson,
)
from knowledge.experience.lessons.decide import brought_by
from knowledge.forms.decide import ApproveForm, DecisionForm, ReasonForm
from knowledge.models import IN_USE, Lesson, LessonState

OWN = "You proposed this lesson, so another curator decides on it."


@dataclass(frozen=True, slots=True)
class LessonStep:
    """A step of curation, the words of its button, and the states in which it makes sense."""

    take: Callable[..., Lesson]
    label: str
    states: tuple[str, ...]
    form: type[DecisionForm] = ReasonForm


PROPOSED, RETURNED, RETRACTED = LessonState.PROPOSED, LessonState.RETURNED, LessonState.RETRACTED
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
