"""One interface to both indexes: the rows that an expression asks for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType

from django.db import connection
from django.db.models import QuerySet

from knowledge.models import SearchRow
from knowledge.search.engine import fts5, tsquery
from knowledge.search.engine.expression import AllOf, Expression, holds_any

FEW = 30_000  # rows of the rarest word: an index reads as many at once
MOST_PARTS = 12  # that are asked at once: each is one more word for every row to be held against
MORE = 1.3  # times as many parts as should be enough are asked


@contextmanager
def by_index() -> Iterator[None]:
    """Read in here, so that the index is what answers."""
    with _engine().by_index():
        yield


def rows_asked(asked: Expression) -> QuerySet[SearchRow]:
    """The rows that an expression asks for, in no order."""
    engine = _engine()
    return SearchRow.objects.extra(where=[engine.CONDITION], params=[engine.written(asked)])


def newest_asked(asked: Expression, most: int, *, parts: Sequence[str], at_most: int) -> list[int]:
    """The keys of the newest rows that are asked for, newest first, `most` at most.

    parts: the index words that part all such rows, the newest first. at_most: rows that can be
    asked for. An index cannot give the newest of many rows without reading all, so the newest parts
    are asked first, and the whole where they hold too few to go on so.
    """
    if at_most <= FEW:
        return _newest(asked, most)
    found = _newest(_within(asked, parts[:1]), most)
    if len(found) == most:
        return found
    needed = math.ceil(most / len(found) * MORE) if found else len(parts)
    if needed < min(MOST_PARTS, len(parts)):
        found = _newest(_within(asked, parts[:needed]), most)
        if len(found) == most:
            return found
    return _newest(asked, most)


def _within(asked: Expression, parts: Sequence[str]) -> Expression:
    return AllOf((asked, holds_any(parts))) if parts else asked


def _newest(asked: Expression, most: int) -> list[int]:
    return list(rows_asked(asked).order_by("-pk").values_list("pk", flat=True)[:most])


def _engine() -> ModuleType:
    return tsquery if connection.vendor == "postgresql" else fts5
