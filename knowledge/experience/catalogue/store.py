"""The catalogue in the database and in the search index; which guides mention a technique."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from django.db.models import F, OuterRef, Q, Subquery

from knowledge.experience.catalogue.applies import applies
from knowledge.experience.catalogue.read import (
    CatalogueFault,
    ReadCatalogue,
    StrategyFacts,
    read_catalogue,
)
from knowledge.experience.terms import FAMILIES
from knowledge.models import Kind, Revision, Strategy
from knowledge.models.document import SHIPPED_ORIGIN
from knowledge.search.index import Entry, remove, upsert
from knowledge.search.tokens import ARCHS, BACKENDS

SCOPES = {
    "op": tuple(op for ops in FAMILIES.values() for op in ops),
    "backend": BACKENDS,
    "arch": ARCHS,
}
# Only documents with these words can hold a table of the catalogue.
MARKS = ("what to do", "why it fails", "catalogue")
LISTS = ("limits", "vendors", "archs", "ops", "aliases", "recipes")
CODE = re.compile(r"`([a-z]+)\.([\w.>]*\w)`")
FILE_ENDINGS = (".md", ".json", ".py", ".cu", ".cpp", ".hip", ".toml")


def all_strategies() -> Iterator[Entry]:
    """Every strategy that the wiki has."""
    for row in Strategy.objects.filter(withdrawn=False):
        yield strategy_row(row)


def strategy_row(row: Strategy) -> Entry:
    """A strategy as it stands in the index, within the scopes that it can fit."""
    said = (row.use_when, row.what, row.verify, row.failure, row.instead)
    fitting = {
        name: [value for value in values if applies(row, **{name: value})]
        for name, values in SCOPES.items()
    }
    # Of equal matches those for few operations come first.
    return Entry(
        kind=Kind.STRATEGY,
        key=row.slug,
        url=row.get_absolute_url(),
        title=f"{row.slug}: {row.title}",
        body="\n".join(filter(None, said)),
        facets={"strategy": row.slug},
        weight=-float(len(fitting["op"])),
        fits={name: some for name, some in fitting.items() if 0 < len(some) < len(SCOPES[name])},
        also=" ".join((*row.aliases, *row.limits, *row.vendors, *row.archs, *row.ops)),
    )


def take_catalogue(origin: str) -> list[CatalogueFault]:
    """Bring the rows to what the newest texts say; the faults in documents of this origin.

    Of one id the shipped wiki's row counts, then that of the document that was brought first. Rows
    that no text has any more are withdrawn, and stay for the experience that refers to them.
    """
    origins, texts = _newest_texts()
    found = read_catalogue(texts)
    rows = {row.slug: row for row in Strategy.objects.all()}
    new, changed = [], []
    for facts in found.strategies.values():
        values: dict[str, Any] = {"withdrawn": False}
        for name, value in asdict(facts).items():
            values[name] = list(value) if isinstance(value, tuple) else value
        row = rows.pop(facts.slug, None)
        if row is None:
            new.append(Strategy(**values))
        elif any(getattr(row, name) != value for name, value in values.items()):
            for name, value in values.items():
                setattr(row, name, value)
            changed.append(row)
    gone = [row for row in rows.values() if not row.withdrawn]
    for row in gone:
        row.withdrawn = True
    Strategy.objects.bulk_create(new)
    Strategy.objects.bulk_update([*changed, *gone], [*StrategyFacts.__slots__, "withdrawn"])
    upsert(strategy_row(row) for row in (*new, *changed))
    remove((Kind.STRATEGY, row.slug) for row in gone)
    return [fault for fault in found.faults if origins[fault.document] == origin]


def stored_catalogue() -> tuple[StrategyFacts, ...]:
    """The strategies in use as plain values, in the order of their ids."""
    rows = Strategy.objects.filter(withdrawn=False).values(*StrategyFacts.__slots__)
    return tuple(StrategyFacts(**{**row, **{n: tuple(row[n]) for n in LISTS}}) for row in rows)


def read_with_shipped(texts: dict[str, str], origin: str) -> ReadCatalogue:
    """The catalogue as it would be with these documents of an origin in place of the stored."""
    origins, stored = _newest_texts()
    ours = {p: t for p, t in stored.items() if origins[p] == SHIPPED_ORIGIN != origin}
    return read_catalogue(ours | texts)


def _newest_texts() -> tuple[dict[str, str], dict[str, str]]:
    """Path → origin and path → text of what may hold a table: shipped documents first, then
    in the order in which they were brought."""
    newest = Revision.objects.filter(document=OuterRef("document")).order_by("-number")
    marked = Q()
    for mark in MARKS:
        marked |= Q(text__icontains=mark)
    rows = (
        Revision.objects.filter(marked, document__withdrawn_at=None)
        .annotate(newest=Subquery(newest.values("number")[:1]))
        .filter(number=F("newest"))
        .order_by("document_id")
        .values_list("document__path", "document__origin", "text")
    )
    listed = sorted(rows, key=lambda row: row[1] != SHIPPED_ORIGIN)
    return {path: own for path, own, _ in listed}, {path: text for path, _, text in listed}


def unknown_mentions(texts: Mapping[str, str], found: ReadCatalogue) -> Iterator[CatalogueFault]:
    """What looks like an id of the catalogue, a recipe or a sweep, and is none.

    "ge.1" stands for all that begin so. path → text.
    """
    names = {*found.strategies}
    for strategy in found.strategies.values():
        names |= {*strategy.aliases, *strategy.recipes}
    begins = {name.partition(".")[0] for name in names if "." in name}
    for path, text in texts.items():
        for number, line in enumerate(text.splitlines(), start=1):
            for begin, rest in CODE.findall(line):
                code = f"{begin}.{rest}"
                if begin not in begins or code in names or code.endswith(FILE_ENDINGS):
                    continue
                known = (
                    name.startswith(f"{code}.")
                    or (name.endswith("*") and code.startswith(name[:-1]))
                    for name in names
                )
                if not any(known):
                    message = f"`{code}` is no strategy, recipe or sweep; accepted: one that is"
                    yield CatalogueFault(path, number, message)
