"""Who sees what: the eyes of a person, of a project and of the team; and how projects change.

A `None` person is a command of this installation, which sees everything. What one sees is decided
in `knowledge.models.sight`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import QuerySet

from knowledge.curation.errors import Conflict, CurationError, Forbidden, require_storable
from knowledge.curation.people import is_lead
from knowledge.models import Project, ProjectChange, ProjectWork, WorkKind, project_of
from knowledge.models.project import LONGEST_PROJECT
from knowledge.models.sight import Eyes

FIELD = "project"


def hidden_from(person: Any) -> frozenset[int]:
    """The projects whose work this user does not see; one query, or two where there are others."""
    others = Project.objects.exclude(members=person.pk) if person.pk else Project.objects.all()
    keys = frozenset(others.values_list("pk", flat=True))
    return frozenset() if keys and person.pk and is_lead(person) else keys


def eyes_of(person: Any) -> Eyes:
    return lambda: hidden_from(person)


def projects_of(person: Any) -> QuerySet[Project]:
    """Projects that this user may put work into."""
    if person is None or is_lead(person):
        return Project.objects.all()
    return Project.objects.filter(members=person.pk)


def named_project(name: str, person: Any) -> Project | None:
    """One of the user's projects; None for "". Raises CurationError."""
    if not name:
        return None
    known = projects_of(person)
    found = known.filter(name=name).first() if "\0" not in name else None
    if found is None:
        accepted = ", ".join(known.values_list("name", flat=True)) or "none yet"
        raise CurationError(FIELD, f"{name[:LONGEST_PROJECT]!r}; accepted: {accepted}")
    return found


def put_into(project: Project | None, kind: WorkKind, key: int, by: Any) -> bool:
    """Let a campaign or a problem belong to the project alone; False where it does already."""
    before = project_of(kind, key)
    if before == project:
        return False
    with transaction.atomic():
        ProjectWork.objects.filter(kind=kind, key=key).delete()
        if before:
            _note(before, f"{kind} {key} taken out", by)
        if project:
            ProjectWork.objects.create(project=project, kind=kind, key=key)
            _note(project, f"{kind} {key} put in", by)
    return True


def new_project(name: str, members: Iterable[str], by: Any) -> Project:
    """Raises Forbidden for all but leads, CurationError naming the field, and Conflict."""
    _require_lead(by)
    with transaction.atomic():
        made = Project.objects.create(name=_free_name(name))
        _note(made, "created", by)
        set_members(made, members, by)
    return made


def rename(project: Project, name: str, by: Any) -> None:
    """Raises Forbidden for all but leads, CurationError naming the field, and Conflict."""
    _require_lead(by)
    before, project.name = project.name, _free_name(name, project.pk)
    if project.name != before:
        with transaction.atomic():
            project.save(update_fields=["name"])
            _note(project, f"renamed, from {before}", by)


def _free_name(name: str, own: int = 0) -> str:
    """own: the key of the project that may have it already."""
    said = require_storable("name", " ".join(name.split()), LONGEST_PROJECT)
    if not said:
        raise CurationError("name", f"is needed, of at most {LONGEST_PROJECT} characters")
    if Project.objects.filter(name=said).exclude(pk=own).exists():
        raise Conflict(f"there is a project {said!r}; choose another name")
    return said


def set_members(project: Project, names: Iterable[str], by: Any) -> None:
    """These users and no others. Raises Forbidden for all but leads, and CurationError."""
    _require_lead(by)
    wanted = set(names)
    found = list(get_user_model().objects.filter(username__in=wanted, is_active=True))
    unknown = sorted(wanted - {user.get_username() for user in found})
    if unknown:
        raise CurationError("members", f"{unknown[0][:LONGEST_PROJECT]!r} is no user's name")
    with transaction.atomic():
        before = set(project.members.values_list("username", flat=True))
        project.members.set(found)
        for words, some in (("in", wanted - before), ("out", before - wanted)):
            if some:
                _note(project, f"{words}: {', '.join(sorted(some))}", by)


def _require_lead(by: Any) -> None:
    if by is not None and not is_lead(by):
        raise Forbidden("projects need the role lead")


def _note(project: Project, what: str, by: Any) -> None:
    ProjectChange.objects.create(project=project, what=what, by=by)
