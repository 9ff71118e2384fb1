"""The rows that hold index words: one interface to FTS5 and to PostgreSQL's tsvector.

A condition is text in the language of the database that is asked. Every word in it is quoted, so
that none is an operator.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate

from django.db import connection, transaction
from django.db.models import F, QuerySet

from knowledge.models import SearchRow

FTS = "knowledge_searchrow_fts"
FEW = 30_000  # rows of the rarest word: an index reads as many at once
MOST_PARTS = 12  # that are asked at once: each is one more word for every row to be held against
# Not the key itself: PostgreSQL would walk back through all keys until enough rows hold the words.
NEWEST_FIRST = (F("pk") + 0).desc()
MORE = 1.3  # times as many parts as should be enough are asked


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one database writes conditions. where: a condition on rows with one parameter."""

    where: str
    both: str
    either: str
    but_not: str
    quote: str
    escapes: tuple[tuple[str, str], ...]


FTS5 = Dialect(
    f"knowledge_searchrow.id IN (SELECT rowid FROM {FTS} WHERE {FTS} MATCH %s)",
    *(" AND ", " OR ", " NOT ", '"', (('"', '""'),)),
)
# Lexemes are the words as they are, under a GIN index.
TSQUERY = Dialect(
    "knowledge_searchrow.lexemes @@ %s::tsquery",
    *(" & ", " | ", " & !", "'", (("\\", "\\\\"), ("'", "''"))),
)


def dialect() -> Dialect:
    """The dialect of the database in use."""
    return TSQUERY if connection.vendor == "postgresql" else FTS5


def holds(word: str) -> str:
    """Rows that hold this index word."""
    ours = dialect()
    for sign, escaped in ours.escapes:
        word = word.replace(sign, escaped)
    return f"{ours.quote}{word}{ours.quote}"


def holds_any(words: Iterable[str]) -> str:
    """Rows that hold one of these words, of which there is at least one."""
    return any_of(map(holds, dict.fromkeys(words)))


def all_of(parts: Iterable[str]) -> str:
    """Rows that every one of these conditions asks for; there is at least one."""
    return _joined(dialect().both, parts)


def any_of(parts: Iterable[str]) -> str:
    """Rows that one of these conditions asks for; there is at least one."""
    return _joined(dialect().either, parts)


def but_not(wanted: str, unwanted: str) -> str:
    """Rows that the first asks for and the second does not."""
    return _joined(dialect().but_not, (wanted, unwanted))


def _joined(sign: str, parts: Iterable[str]) -> str:
    listed = tuple(parts)
    return listed[0] if len(listed) == 1 else f"({sign.join(listed)})"


@contextmanager
def by_index() -> Iterator[None]:
    """Read in here, so that the index is what answers.

    PostgreSQL believes that words which often stand together are independent, and then reads a
    million texts to save the index a few thousand.
    """
    if connection.vendor != "postgresql":
        yield
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        yield


def rows_asked(asked: str) -> QuerySet[SearchRow]:
    """The rows that a condition asks for, in no order."""
    return SearchRow.objects.extra(where=[dialect().where], params=[asked])


@dataclass(frozen=True, slots=True)
class RowPart:
    """A part of the rows of one kind, by its index word."""

    word: str
    rows: int


def newest_asked(asked: str, most: int, *, parts: Sequence[RowPart], at_most: int) -> list[int]:
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


def is_few(asked: str, few: int, *, parts: Sequence[RowPart], at_most: int) -> bool:
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


def _within(asked: str, parts: Sequence[RowPart]) -> str:
    return all_of((asked, holds_any(part.word for part in parts))) if parts else asked


def _newest(asked: str, most: int) -> list[int]:
    return list(rows_asked(asked).order_by(NEWEST_FIRST).values_list("pk", flat=True)[:most])
