"""Rows that are written once: revisions and the citations that pin them.

The ORM's own ways of changing a row all end here; a database trigger (migration 0002) holds the
text of a revision against everything that goes round the ORM.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from django.db import models


class Frozen(Exception):
    """A stored row was about to be changed or deleted."""


class FrozenQuerySet(models.QuerySet[Any]):
    """Reads and creates; every bulk change is refused."""

    def update(self, **kwargs: Any) -> int:
        self._refuse()

    def delete(self) -> tuple[int, dict[str, int]]:
        self._refuse()

    def bulk_update(self, objs: Iterable[Any], *args: Any, **kwargs: Any) -> int:
        self._refuse()

    def bulk_create(self, objs: Iterable[Any], *args: Any, **kwargs: Any) -> list[Any]:
        if kwargs.get("update_conflicts"):
            self._refuse()
        return super().bulk_create(objs, *args, **kwargs)

    def _refuse(self) -> NoReturn:
        raise Frozen(f"{self.model._meta.verbose_name_plural} are never changed or deleted")


class FrozenModel(models.Model):
    """Base of rows that are written once."""

    objects = FrozenQuerySet.as_manager()

    class Meta:
        abstract = True
        base_manager_name = "objects"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise Frozen(f"{self} is stored and can not be changed")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        raise Frozen(f"{self} is stored and can not be deleted")
