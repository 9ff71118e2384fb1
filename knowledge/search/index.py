"""What stands in the search index. Every writer of something that can be found calls this.

A rebuild writes all of it anew. This app does not know all that can be found: whoever has more
registers a source when it is loaded (in `AppConfig.ready`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from django.db import connection, connections, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.models import OuterRef, Q, Subquery
from django.urls import reverse

from knowledge.models import (
    Document,
    Kind,
    Platform,
    Revision,
    SearchRow,
    SearchWord,
    Spec,
    SpecState,
)
from knowledge.models.project import eyes_of_project
from knowledge.models.sight import seeing
from knowledge.search.tokens import LONGEST_WORD, facet_word, index_words, place_words
from knowledge.specs.facts import Rank
from knowledge.specs.metrics import METRICS

AT_ONCE = 500
LONGEST_TITLE, LONGEST_KEY, LONGEST_SUMMARY = 300, 80, 2_000
# Kinds with a scope: an empty facet matches every value.
SCOPED = (Kind.LESSON, Kind.STRATEGY, Kind.GAP)
PROVEN = (16, 4, 1)  # attempts of a context
# Kinds of which there are many. Their rows are parted by their keys, so that the newest are found
# without reading all.
MANY = (Kind.TRACK, Kind.ENTRY, Kind.ROUND)
PART = 8_192
SCOPE = ("op", "dtype", "backend", "platform", "arch", "symptom")
ROWS_READ = 2_000


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


def upsert(entries: Iterable[Entry]) -> None:
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
    if entry.kind == Kind.TRACK:  # the step of evidence that a context has reached
        steps = (step for step in PROVEN if entry.weight >= step)
        marks["proven"] = str(next(steps, PROVEN[-1]))
    scopes = [facet_word(name, value) for name, each in entry.fits.items() for value in each]
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
        words=" ".join(
            (*dict.fromkeys(scopes), index_words((title, entry.body, entry.also), marks))
        ),
        weight=entry.weight,
    )


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


Source = Callable[[], Iterable[Entry]]

_sources: list[Source] = []


def register(source: Source) -> Source:
    """Index what `source` gives too, from the next rebuild on; once is enough."""
    if source not in _sources:
        _sources.append(source)
    return source


def rebuild() -> int:
    """Empty the index and fill it from all sources; how many rows it has now. All or nothing.

    It is everybody's, and holds nothing that belongs to a project.
    """
    counts: Counter[str] = Counter()
    total = 0
    with transaction.atomic(), seeing(eyes_of_project(None)):
        for model in (SearchRow, SearchWord):
            model.objects.all().delete()
        for entries in _parts(entry for source in _sources for entry in source()):
            rows = [search_row(entry) for entry in entries]
            SearchRow.objects.bulk_create(rows)
            counts.update(counted_words(rows))
            total += len(rows)
        for words in _parts(sorted(counts.items())):
            SearchWord.objects.bulk_create(SearchWord(word=word, rows=n) for word, n in words)
    return total


def fill_when_empty(**signal: Any) -> None:
    """After `migrate`: rows of before there was an index go into it. Runs with the newest tables.

    A flush sends the same signal, and a migration to an older state has other tables.
    """
    if "plan" not in signal:
        return
    executor = MigrationExecutor(connections[signal["using"]])
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return
    indexed = SearchRow.objects.filter(kind=Kind.PLATFORM).exists()
    if not indexed and (Platform.objects.exists() or not SearchRow.objects.exists()):
        rebuild()


def _parts(rows: Iterable[Any]) -> Iterator[list[Any]]:
    rows = iter(rows)
    while part := list(islice(rows, AT_ONCE)):
        yield part


def index_platforms(platforms: Iterable[Platform]) -> None:
    """Put these products into the index."""
    upsert(map(_platform, platforms))


def index_specs(specs: Iterable[Spec]) -> None:
    """Put these values into the index. What review makes of them is read when they are shown."""
    upsert(_spec(spec) for spec in specs)


def index_documents(newest: Iterable[tuple[Document, str]]) -> None:
    """Put documents into the index, each with its newest text."""
    upsert(_document(document, text) for document, text in newest)


def all_platforms() -> Iterator[Entry]:
    """Every product; they are few."""
    return map(_platform, Platform.objects.all())


def all_specs() -> Iterator[Entry]:
    """Every value that is not retired."""
    rows = Spec.objects.exclude(state=SpecState.RETIRED).select_related("platform")
    for spec in rows.iterator(ROWS_READ):
        yield _spec(spec)


def all_documents() -> Iterator[Entry]:
    """Every document with its newest text."""
    newest = Revision.objects.filter(document=OuterRef("pk")).order_by("-number")
    rows = Document.objects.annotate(newest=Subquery(newest.values("text")[:1]))
    for document in rows.iterator(100):
        yield _document(document, document.newest or "")


def _platform(platform: Platform) -> Entry:
    return Entry(
        kind=Kind.PLATFORM,
        key=platform.slug,
        url=platform.get_absolute_url(),
        title=platform.name,
        body=platform.arch,
        facets={"platform": platform.slug, "arch": platform.target},
        also=" ".join((platform.slug, platform.vendor, *platform.aliases)),
    )


def _spec(spec: Spec) -> Entry:
    """Put preferred values of a whole device first among equal matches, as its sheet does.

    It is found by its metric's meaning and other names too.
    """
    platform, steps = spec.platform, len(spec.qualifiers) + (spec.rank != Rank.PREFERRED)
    return Entry(
        kind=Kind.SPEC,
        key=str(spec.pk),
        url=spec.get_absolute_url(),
        title=f"{spec.metric} of {platform.name}: {spec.shown}",
        body="\n".join(filter(None, (" ".join(spec.qualifiers.values()), spec.source, spec.note))),
        facets={
            "platform": platform.slug,
            "arch": platform.target,
            "dtype": spec.qualifiers.get("dtype", ""),
        },
        weight=-steps - spec.pk / 1e9,
        also=f"{platform.vendor} {platform.arch} {spec.evidence} {_meaning(spec.metric)}",
    )


def _meaning(metric: str) -> str:
    known = METRICS.get(metric)
    return " ".join((known.meaning, *known.aliases)) if known else ""


def _document(document: Document, text: str) -> Entry:
    # Its own address may be longer than the column; the hit asks the document for it.
    return Entry(
        kind=Kind.DOCUMENT,
        key=str(document.pk),
        url=reverse("knowledge:documents"),
        title=document.title,
        body=_summary(text),
        also=f"{document.path} {text}",
    )


def _summary(text: str) -> str:
    """The first paragraph of a document, which says what it is about; "" where it has none."""
    parts = (part.strip() for part in text[:LONGEST_SUMMARY].split("\n\n"))
    return next((part for part in parts if part and not part.startswith("#")), "")
