"""Who sees which rows: what belongs to a project exists for its members and for leads alone.

One place decides. The default manager of every model that can belong to a project leaves out what
the eyes of this call do not see: the eyes of the request's person, or of whom a step acts for.
Commands and workers see everything. The other ways to reach a row begin at one that is seen: by a
foreign key of it, or joined to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from django.apps import apps
from django.db import models

# Answers the keys of the projects whose rows are not there.
Eyes = Callable[[], frozenset[int]]
_eyes: ContextVar[Eyes] = ContextVar("eyes", default=frozenset)

# The column of a project's key, where a row has it itself.
PROJECT = "project"
NO_PROJECT = 0


@contextmanager
def seeing(eyes: Eyes) -> Iterator[None]:
    """Read with these eyes in here. A thread that is started in here sees everything."""
    before = _eyes.set(eyes)
    try:
        yield
    finally:
        _eyes.reset(before)


def hidden_rows(model: Any, projects: frozenset[int]) -> models.Q:
    """Which rows of a model belong to one of these projects, by its `HIDDEN_WITH`.

    Subqueries and no joins, so that a conditional UPDATE looks at its row again.
    """
    found = models.Q()
    for name in model.HIDDEN_WITH:
        field = model._meta.pk if name == "pk" else model._meta.get_field(name)
        keys: Any = projects
        if field.is_relation:
            above = field.related_model
            keys = models.QuerySet(above).filter(hidden_rows(above, projects)).values("pk")
        elif name != PROJECT:
            kind = model._meta.model_name if name == "pk" else name
            works = apps.get_model("knowledge", "ProjectWork").objects
            keys = works.filter(kind=kind, project__in=projects).values("key")
        found |= models.Q(**{f"{name}__in": keys})
    return found


Row = TypeVar("Row", bound=models.Model)


def seen(rows: models.QuerySet[Row]) -> models.QuerySet[Row]:
    """Without what the eyes of this call do not see."""
    if not getattr(rows.model, "HIDDEN_WITH", ()):
        return rows
    hidden = _eyes.get()()
    return rows.exclude(hidden_rows(rows.model, hidden)) if hidden else rows


class SeenManager(models.Manager[Row]):
    """The rows that are seen. `HIDDEN_WITH` of the model names the columns that decide.

    A foreign key: the row is hidden with the row that it names. `project`: the key of its project.
    `campaign` without a foreign key, and "pk": a key of `ProjectWork`.
    """

    def get_queryset(self) -> models.QuerySet[Row]:
        return seen(super().get_queryset())
