"""The strategies of the catalogue as they stand in the search index."""

from __future__ import annotations

from collections.abc import Iterator

from knowledge.models import Kind, Strategy
from knowledge.search.index import Entry


def all_strategies() -> Iterator[Entry]:
    """Every strategy that the wiki has."""
    for row in Strategy.objects.filter(withdrawn=False):
        yield strategy_row(row)


def strategy_row(row: Strategy) -> Entry:
    """A strategy as it stands in the index."""
    said = (row.use_when, row.what, row.verify, row.failure, row.instead)
    return Entry(
        kind=Kind.STRATEGY,
        key=row.slug,
        url=row.get_absolute_url(),
        title=f"{row.slug}: {row.title}",
        body="\n".join(filter(None, said)),
        facets={"strategy": row.slug, "backend": row.backend},
        also=" ".join((*row.aliases, *row.limits, *row.vendors, *row.archs, *row.ops)),
    )
