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

MORE = 1.5  # times as many parts as should be enough are asked at once
MOST_TIMES = 4  # times as many as before, where too little was found to tell


@contextmanager
def by_index() -> Iterator[None]:
    """Read in here, so that the index is what answers."""
    with _engine().by_index():
        yield


def rows_asked(asked: Expression) -> QuerySet[SearchRow]:
    """The rows that an expression asks for, in no order."""
    engine = _engine()
    return SearchRow.objects.extra(where=[engine.CONDITION], params=[engine.written(asked)])


def newest_asked(asked: Expression, most: int, parts: Sequence[str]) -> list[int]:
    """The keys of the newest rows that are asked for, newest first, `most` at most.

    parts: the index words that part all such rows, the newest first. No more of them are asked than
    are needed, since an index cannot give the newest of many rows without reading all.
    """
    found: list[int] = []
    done, step = 0, 1
    while done < len(parts) and len(found) < most:
        some = holds_any(parts[done : done + step])
        rows = rows_asked(AllOf((asked, some))).order_by("-pk")
        found += rows.values_list("pk", flat=True)[: most - len(found)]
        done += step
        needed = (most - len(found)) * done / len(found) * MORE if found else done * MOST_TIMES
        step = max(1, min(math.ceil(needed), done * MOST_TIMES))
    return found


def _engine() -> ModuleType:
    return tsquery if connection.vendor == "postgresql" else fts5
