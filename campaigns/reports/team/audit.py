"""Who did what: the steps that people took in campaigns, wiki and experience, as one list."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet, TextField, Value
from django.db.models.functions import Cast
from django.urls import reverse

from campaigns.models import Event
from knowledge.models import ExperienceChange, LessonChange, ProjectChange, SpecChange

# Where something was done → what its rows are, and their fields: action, the key and the words of
# what it was done to, why.
SOURCES: dict[str, tuple[Any, str, str, str, str]] = {
    "campaign": (Event, "kind", "campaign_id", "campaign__title", "message"),
    "value": (SpecChange, "action", "spec_id", "spec__metric", "why"),
    "lesson": (LessonChange, "state", "lesson__uuid", "lesson__takeaway", "why"),
    "project": (ProjectChange, "what", "project_id", "project__name", "what"),
    "experience": (ExperienceChange, "action", "entry__uuid", "entry__title", "why"),
}
KINDS = tuple(SOURCES)


def audit_rows(who: str = "", kind: str = "") -> QuerySet[Any, dict[str, Any]]:
    """at, who, place, action, ref, subject, why of each step of a person; one query a page.

    who: a user's name. kind: one of `KINDS`; one that is none of them has no rows.
    """
    parts = [_part(name, who) for name in KINDS if kind in ("", name)]
    if not parts:
        return _part(KINDS[0], who).none()
    rows = parts[0].union(*parts[1:], all=True) if len(parts) > 1 else parts[0]
    return rows.order_by("-at", "-key")


def address_of(row: dict[str, Any]) -> str:
    """The page of what a step was done to."""
    names = {"campaign": "campaign", "value": "knowledge:spec"}
    if name := names.get(row["place"]):
        return reverse(name, args=[int(row["ref"])])
    if row["place"] == "project":
        return f"{reverse('projects')}#project-{row['ref']}"
    # SQLite keeps it without dashes.
    pages = {"lesson": "experience:lesson", "experience": "experience:entry"}
    return reverse(pages[row["place"]], args=[UUID(row["ref"])])


def _part(name: str, who: str) -> QuerySet[Any, dict[str, Any]]:
    model, action, ref, subject, why = SOURCES[name]
    rows = model.objects.order_by().filter(by__isnull=False)
    if who:
        rows = rows.filter(by__username=who)
    found: QuerySet[Any, dict[str, Any]] = rows.values(
        "at",
        key=F("pk"),
        who=F("by__username"),
        place=Value(name, output_field=TextField()),
        did=Cast(action, TextField()),
        ref=Cast(ref, TextField()),
        subject=Cast(subject, TextField()),
        reason=Cast(why, TextField()),
    )
    return found
