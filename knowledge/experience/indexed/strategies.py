"""The strategies of the catalogue as they stand in the search index."""

from __future__ import annotations

from collections.abc import Iterator

from knowledge.experience.catalogue.applies import applies
from knowledge.experience.families import FAMILIES
from knowledge.models import Kind, Strategy
from knowledge.search.aliases import ARCHS, BACKENDS
from knowledge.search.index import Entry

SCOPES = {
    "op": tuple(op for ops in FAMILIES.values() for op in ops),
    "backend": BACKENDS,
    "arch": ARCHS,
}


def all_strategies() -> Iterator[Entry]:
    """Every strategy that the wiki has."""
    for row in Strategy.objects.filter(withdrawn=False):
        yield strategy_row(row)


def strategy_row(row: Strategy) -> Entry:
    """A strategy as it stands in the index, within the scopes that it can fit."""
    said = (row.use_when, row.what, row.verify, row.failure, row.instead)
    return Entry(
        kind=Kind.STRATEGY,
        key=row.slug,
        url=row.get_absolute_url(),
        title=f"{row.slug}: {row.title}",
        body="\n".join(filter(None, said)),
        facets={"strategy": row.slug},
        fits={name: fitting for name in SCOPES if (fitting := _fitting(row, name))},
        also=" ".join((*row.aliases, *row.limits, *row.vendors, *row.archs, *row.ops)),
    )


def _fitting(row: Strategy, name: str) -> list[str]:
    """The values of a facet that it fits; none where it fits all."""
    fitting = [value for value in SCOPES[name] if applies(row, **{name: value})]
    return fitting if len(fitting) < len(SCOPES[name]) else []
