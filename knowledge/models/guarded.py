"""Rows that may not be rewritten: append-only rows, and rows that are sealed once finished (R45).

Law 7 is held three times: here for every ORM path (save, delete, update, bulk calls, the admin),
by database triggers against what goes round the ORM (knowledge.models.triggers), and by PROTECT
on the foreign keys, so that no cascade can reach a sealed row. Such rows name their actor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, TypeVar

from django.conf import settings
from django.db import IntegrityError, models

from knowledge.models.sight import SeenManager

COMMAND = "a command"
ALWAYS = models.Q(pk__isnull=False)


def person() -> models.ForeignKey[Any, Any]:
    """A column for who did something; null for a command, the flow, or somebody elsewhere."""
    return models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )


def actor(user: Any, elsewhere: Mapping[str, str] | None, name: str = "by") -> str:
    """ "alice" is a user of this installation; "alice, imported" is a name in a file.

    elsewhere: what a file says of the row, null of one that was made here; name: its key.
    """
    if user is not None:
        return str(user.get_username())
    if elsewhere is None or name not in elsewhere:
        return COMMAND
    return f"{elsewhere[name] or COMMAND}, imported"


Row = TypeVar("Row", bound="Guarded")


class Immutable(IntegrityError):
    """A recorded row was about to be changed or deleted; of one kind with what a trigger raises."""


class GuardedQuerySet(models.QuerySet[Row]):
    """Refuses to touch sealed rows in bulk; `model.SEALED` says which rows those are."""

    def update(self, **kwargs: Any) -> int:
        self._refuse_sealed("changed")
        return super().update(**kwargs)

    def delete(self) -> tuple[int, dict[str, int]]:
        self._refuse_sealed("deleted")
        return super().delete()

    def bulk_update(self, objs: Iterable[Any], *args: Any, **kwargs: Any) -> int:
        listed = list(objs)
        type(self)(self.model).filter(pk__in=[o.pk for o in listed])._refuse_sealed("changed")
        return super().bulk_update(listed, *args, **kwargs)

    def bulk_create(self, objs: Iterable[Any], *args: Any, **kwargs: Any) -> list[Any]:
        if kwargs.get("update_conflicts"):
            raise Immutable(f"{self.model._meta.verbose_name_plural} are not changed by an insert")
        listed = list(objs)
        for row in listed:
            row.refuse_late()
        return super().bulk_create(listed, *args, **kwargs)

    def _refuse_sealed(self, done: str) -> None:
        # Sliced or combined querysets cannot be filtered further; look at their keys instead.
        rows = self.model._default_manager.filter(pk__in=list(self.values_list("pk", flat=True)))
        sealed = rows.filter(self.model.SEALED).first()
        if sealed is not None:
            raise Immutable(f"{sealed} is recorded and cannot be {done}; corrections are new rows")


class Guarded(models.Model):
    """Base of rows that become immutable when they match `SEALED`."""

    SEALED: ClassVar[models.Q]
    HIDDEN_WITH: ClassVar[tuple[str, ...]] = ()

    objects = SeenManager.from_queryset(GuardedQuerySet)()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        self._refuse_if_sealed("changed")
        if self._state.adding:
            self.refuse_late()
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        self._refuse_if_sealed("deleted")
        return super().delete(*args, **kwargs)

    def refuse_late(self) -> None:
        """Raise Immutable when this new row would add to a sealed one; models override it."""

    def _refuse_if_sealed(self, done: str) -> None:
        if self.pk is None:
            return
        if type(self)._default_manager.filter(pk=self.pk).filter(self.SEALED).exists():
            raise Immutable(f"{self} is recorded and cannot be {done}; corrections are new rows")
