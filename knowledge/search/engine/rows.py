"""One interface to both indexes: the rows that an expression asks for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from types import ModuleType

from django.db import connection
from django.db.models import F, QuerySet

from knowledge.models import SearchRow
from knowledge.search.engine import fts5, tsquery
from knowledge.search.engine.expression import AllOf, Expression, holds_any

FEW = 30_000  # rows of the rarest word: an index reads as many at once
MOST_PARTS = 12  # that are asked at once: each is one more word for every row to be held against
# Not the key itself: PostgreSQL would walk back through all keys until enough rows hold the words.
NEWEST_FIRST = (F("pk") + 0).desc()
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


@dataclass(frozen=True, slots=True)
class RowPart:
    """A part of the rows of one kind, by its index word."""

    word: str
    rows: int


def newest_asked(
    asked: Expression, most: int, *, parts: Sequence[RowPart], at_most: int
) -> list[int]:
    """The keys of the newest rows that are asked for, newest first, `most` at most.

    parts: of all such rows, the newest first. at_most: rows that can be asked for. An index cannot
    give the newest of many rows without reading all, so the newest parts are asked first, and the
    whole where they hold too few to go on so.
    """
    if at_most <= FEW:
        return _newest(asked, most)
    first = _reaching(parts, 1)
    found = _newest(_within(asked, first), most)
    if len(found) == most or len(first) == len(parts):
        return found
    rows = sum(part.rows for part in first)
    enough = _reaching(parts, rows * most / len(found) * MORE) if found else parts
    if len(enough) <= MOST_PARTS:
        found = _newest(_within(asked, enough), most)
        if len(found) == most or len(enough) == len(parts):
            return found
    return _newest(asked, most)


def is_few(asked: Expression, few: int, *, parts: Sequence[RowPart], at_most: int) -> bool:
    """Whether about `few` rows or fewer are asked for, by those of the newest parts."""
    if at_most <= few:
        return True
    some = _reaching(parts, 1)
    share = sum(part.rows for part in some) / max(1, sum(part.rows for part in parts))
    return rows_asked(_within(asked, some)).count() <= few * share


def _reaching(parts: Sequence[RowPart], rows: float) -> Sequence[RowPart]:
    """The newest parts that hold so many rows, and two at least: the newest is seldom full."""
    held = list(accumulate(part.rows for part in parts))
    return parts[: max(2, bisect_left(held, rows) + 1)]


def _within(asked: Expression, parts: Sequence[RowPart]) -> Expression:
    return AllOf((asked, holds_any(part.word for part in parts))) if parts else asked


def _newest(asked: Expression, most: int) -> list[int]:
    return list(rows_asked(asked).order_by(NEWEST_FIRST).values_list("pk", flat=True)[:most])


def _engine() -> ModuleType:
    return tsquery if connection.vendor == "postgresql" else fts5
