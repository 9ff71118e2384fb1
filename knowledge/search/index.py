"""What stands in the search index. Every writer of something that can be found calls this."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from django.db import connection
from django.db.models import Q

from knowledge.models import Kind, SearchRow, SearchWord
from knowledge.search.tokens import LONGEST_WORD, facet_word, index_words, place_words

AT_ONCE = 500
LONGEST_TITLE, LONGEST_KEY = 300, 80
# These hold in a scope; where one leaves a facet out, it holds for any value of it.
SCOPED = (Kind.LESSON, Kind.STRATEGY, Kind.GAP)
PROVEN = (16, 4, 1)  # attempts of a context
# Kinds of which there are many. Their rows are parted by their keys, so that the newest are found
# without reading all.
MANY = (Kind.TRACK, Kind.ENTRY, Kind.ROUND)
PART = 8_192
SCOPE = ("op", "dtype", "backend", "platform", "arch", "symptom")


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that can be found; see `knowledge.models.search.SearchRow`.

    also: further words that find it but are not shown. fits: facet → the values that it holds for,
    where it is in more than one scope.
    """

    kind: str
    key: str
    url: str
    title: str
    body: str = ""
    facets: Mapping[str, str] = field(default_factory=dict)
    weight: float = 0.0
    also: str = ""
    fits: Mapping[str, Sequence[str]] = field(default_factory=dict)


def put(entries: Iterable[Entry]) -> None:
    """Add these to the index, or replace what stands there under the same kind and key."""
    listed = list(entries)
    for first in range(0, len(listed), AT_ONCE):
        part = listed[first : first + AT_ONCE]
        remove((entry.kind, entry.key) for entry in part)
        rows = [search_row(entry) for entry in part]
        SearchRow.objects.bulk_create(rows)
        _count(rows, 1)


def remove(keys: Iterable[tuple[str, str]]) -> None:
    """Take these (kind, key) out of the index."""
    by_kind: dict[str, list[str]] = {}
    for kind, key in keys:
        by_kind.setdefault(kind, []).append(key)
    wanted = Q()
    for kind, listed in by_kind.items():
        wanted |= Q(kind=kind, key__in=listed)
    if not by_kind:
        return
    rows = SearchRow.objects.filter(wanted)
    _count(list(rows), -1)
    rows.delete()


def search_row(entry: Entry) -> SearchRow:
    """The row of an entry, not stored yet."""
    title = entry.title[:LONGEST_TITLE]
    facets = {name: value for name, value in entry.facets.items() if value}
    stated = facets.keys() | entry.fits.keys()
    anywhere = [name for name in SCOPE if entry.kind in SCOPED and name not in stated]
    marks = {**facets, "kind": entry.kind, **dict.fromkeys(anywhere, "any")}
    if entry.kind == Kind.TRACK:
        marks["proven"] = proven(entry.weight)
    scopes = list(_fitting(entry))
    if entry.kind in MANY:
        marks["part"] = f"{entry.kind} {int(entry.key) // PART}"
        scopes += place_words(facets)
    return SearchRow(
        kind=entry.kind,
        key=entry.key[:LONGEST_KEY],
        url=entry.url,
        title=title,
        body=entry.body,
        facets=facets,
        words=" ".join((*scopes, index_words((title, entry.body, entry.also), marks))),
        weight=entry.weight,
    )


def _fitting(entry: Entry) -> Iterator[str]:
    """The index words of the scopes that it fits."""
    for name, values in entry.fits.items():
        yield from dict.fromkeys(facet_word(name, value) for value in values)


def proven(weight: float) -> str:
    """The step of evidence that a context has reached, so that the best are found first."""
    return str(next(step for step in PROVEN if weight >= step or step == PROVEN[-1]))


def counted_words(rows: Sequence[SearchRow]) -> Counter[str]:
    """In how many of these rows each of their words stands."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update(word for word in row.words.split() if len(word) <= LONGEST_WORD)
    return counts


def _count(rows: Sequence[SearchRow], step: int) -> None:
    counts = counted_words(rows)
    if not counts:
        return
    table = SearchWord._meta.db_table
    least = "GREATEST" if connection.vendor == "postgresql" else "MAX"
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {table} (word, rows) VALUES (%s, {least}(0, %s)) "
            f"ON CONFLICT (word) DO UPDATE SET rows = {least}(0, {table}.rows + %s)",
            [(word, step * n, step * n) for word, n in sorted(counts.items())],
        )
