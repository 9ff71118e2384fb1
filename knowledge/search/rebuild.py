"""The whole search index, written anew from what it is about.

This app does not know all that can be found: whoever has more registers a source when it is loaded
(in `AppConfig.ready`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from django.db import connections, transaction
from django.db.migrations.executor import MigrationExecutor

from knowledge.models import SearchRow, SearchWord
from knowledge.search.index import AT_ONCE, Entry, counted_words, search_row

Source = Callable[[], Iterable[Entry]]

_sources: list[Source] = []


def register(source: Source) -> Source:
    """Index what `source` gives too, from the next rebuild on; once is enough."""
    if source not in _sources:
        _sources.append(source)
    return source


def rebuild() -> int:
    """Empty the index and fill it from all sources; how many rows it has now. All or nothing."""
    counts: Counter[str] = Counter()
    total = 0
    with transaction.atomic():
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
    if not SearchRow.objects.exists():
        rebuild()


def _parts(rows: Iterable[Any]) -> Iterator[list[Any]]:
    rows = iter(rows)
    while part := list(islice(rows, AT_ONCE)):
        yield part
