"""What the scope of a query leaves out, and what stands inside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from knowledge.models import Kind, SearchRow
from knowledge.search.aliases import FACETS, rows_of, shown_value
from knowledge.search.candidates import GROUPS, AskedWords, group_rows, scope_of
from knowledge.search.engine.expression import ButNot, all_of, holds_any
from knowledge.search.engine.rows import newest_asked
from knowledge.search.query import QueryFacet, SearchQuery
from knowledge.search.rank import RankedRow

CONTEXTS = GROUPS[0]
MOST_VALUES = 5
MOST_EXCLUDED = 100  # contexts that are counted


@dataclass(frozen=True, slots=True)
class ExcludedByFacet:
    """What the same words find in contexts that one facet of the scope leaves out.

    values: the values of that facet that would find it, with how many contexts each.
    """

    facet: QueryFacet
    count: int
    more: bool = False
    values: tuple[tuple[str, int], ...] = ()


def excluded_by(query: SearchQuery, asked: AskedWords) -> tuple[ExcludedByFacet, ...]:
    """For each facet what it alone excludes: contexts with all words and the rest of the scope."""
    scope = [facet for facet in query.facets if facet.name != "kind"]
    if not asked.all_known:
        return tuple(ExcludedByFacet(facet, 0) for facet in scope)
    return tuple(_excluded(facet, query, asked) for facet in scope)


def _excluded(facet: QueryFacet, query: SearchQuery, asked: AskedWords) -> ExcludedByFacet:
    rest = replace(query, facets=tuple(f for f in query.facets if f is not facet))
    parts = [
        holds_any(["kind=track"]),
        *scope_of(rest, CONTEXTS),
        *(holds_any(sorted(term.forms)) for term in asked.needed),
    ]
    outside = ButNot(all_of(parts), holds_any(rows_of(facet.name, facet.value)))
    keys = newest_asked(outside, MOST_EXCLUDED + 1, asked.parts.get(Kind.TRACK, ()))
    held = SearchRow.objects.filter(pk__in=keys).values_list("facets", flat=True)
    counted = Counter(value for facets in held if (value := facets.get(facet.name)))
    return ExcludedByFacet(
        facet,
        min(len(keys), MOST_EXCLUDED),
        len(keys) > MOST_EXCLUDED,
        tuple(counted.most_common(MOST_VALUES)),
    )


FacetCounts = dict[str, tuple[tuple[str, int], ...]]


def facet_counts(rows: Iterable[RankedRow]) -> FacetCounts:
    """Facet → its values in these rows with how many have each, the most frequent first."""
    counted: Counter[str] = Counter()
    for each in rows:
        # A strategy fits many scopes; what was tried is counted.
        fits = each.row.kind == Kind.STRATEGY
        counted.update(mark for mark in each.marks if not fits or mark.startswith("kind="))
    found: dict[str, list[tuple[str, int]]] = {name: [] for name in FACETS}
    for word, count in sorted(counted.items(), key=lambda each: (-each[1], each[0])):
        name, value = shown_value(word)
        if name in found and value != "any":
            found[name].append((value, count))
    return {name: tuple(values) for name, values in found.items()}


def values_in_scope(
    query: SearchQuery, asked: AskedWords
) -> dict[str, tuple[tuple[str, int], ...]]:
    """What the scope holds without the words: the values of the facets that it leaves open."""
    everything = group_rows(query, replace(asked, terms=(), rows=()), CONTEXTS, 0)
    counts = facet_counts(everything.rows)
    open_ones = (name for name in counts if name not in query.scope and name != "kind")
    return {name: counts[name][:MOST_VALUES] for name in open_ones if counts[name]}
