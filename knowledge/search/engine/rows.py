"""One interface to both indexes: the rows that an expression asks for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from django.db import connection
from django.db.models import QuerySet

from knowledge.models import SearchRow
from knowledge.search.engine import fts5, tsquery
from knowledge.search.engine.expression import Expression

# Before the whole index is asked for the newest rows, the newest of all are looked through: of
# words that many rows hold, the thousand newest are among them.
WINDOW = 20_000


@contextmanager
def by_index() -> Iterator[None]:
    """Read in here, so that the index is what answers."""
    with _engine().by_index():
        yield


def rows_asked(asked: Expression) -> QuerySet[SearchRow]:
    """The rows that an expression asks for, in no order."""
    engine = _engine()
    return SearchRow.objects.extra(where=[engine.CONDITION], params=[engine.written(asked)])


def newest_asked(asked: Expression, most: int, *, frequent: bool) -> list[int]:
    """The keys of the newest rows that are asked for, newest first, `most` at most.

    frequent: each of its words stands in many rows.
    """
    if frequent and connection.vendor == "postgresql":
        last = SearchRow.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        recent = rows_asked(asked).filter(pk__gt=last - WINDOW).order_by("-pk")
        found = list(recent.values_list("pk", flat=True)[:most])
        if len(found) == most:
            return found
    engine = _engine()
    with connection.cursor() as cursor:
        cursor.execute(engine.NEWEST, [engine.written(asked), most])
        return [key for (key,) in cursor.fetchall()]


def _engine() -> ModuleType:
    return tsquery if connection.vendor == "postgresql" else fts5
