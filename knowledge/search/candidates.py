"""The rows that may answer a query, found by the index, and what its scope leaves out.

Contexts, lessons, strategies, values and documents are few, and the best proven of them are
ranked. Single attempts and rounds are many: of those the newest are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from knowledge.models import Kind, SearchRow
from knowledge.search.engine import (
    RowPart,
    all_of,
    any_of,
    but_not,
    holds,
    holds_any,
    is_few,
    newest_asked,
    rows_asked,
)
from knowledge.search.index import PROVEN
from knowledge.search.query import QueryFacet, SearchQuery
from knowledge.search.rank import RankedRow, RankRow, RankTerm, ranked
from knowledge.search.tokens import FACETS, PLACE, place_word, rows_of, shown_value, words_of

MOST = 1_000  # rows of one group that are ranked; beyond it a count says "more than"
MOST_PROVEN = 500  # contexts, of which the best proven come first already
FEW = 8_000  # rows that are read to be sorted
MOST_LOOSE = 50_000  # rows that may hold some of the words; beyond it attempts need all of them
COLUMNS = ("pk", "kind", "title", "words", "weight")
MOST_VALUES = 5
MOST_EXCLUDED = 100  # contexts that are counted


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Kinds whose rows hold in a scope in the same way.

    newest, proven: which of too many are ranked; of a few all are.
    """

    kinds: tuple[str, ...]
    newest: bool = False
    proven: bool = False
    unstated_holds: bool = False  # a facet that a row leaves out holds for any value
    most: int = MOST
    text_holds: bool = False  # the words that a facet was read from hold too


GROUPS = (
    RowGroup((Kind.TRACK,), proven=True, most=MOST_PROVEN),
    RowGroup((Kind.LESSON, Kind.STRATEGY, Kind.GAP), unstated_holds=True),
    RowGroup((Kind.ENTRY,), newest=True),
    RowGroup((Kind.ROUND,), newest=True),
    RowGroup((Kind.PLATFORM, Kind.SPEC, Kind.DOCUMENT), text_holds=True),
)


@dataclass(frozen=True, slots=True)
class AskedWords:
    """The words of a query with what is known of them.

    rows: of each word, 0 where none has it. inside: facet of the scope → its rows, and "place" →
    those of backend, operation and platform together. total: all rows. arch: of the platform of the
    scope; a strategy names no platform. parts: kind → the parts of its rows, the newest first.
    proven: contexts at each step of evidence.
    """

    terms: tuple[RankTerm, ...] = ()
    rows: tuple[int, ...] = ()
    inside: Mapping[str, int] = field(default_factory=dict)
    total: int = 0
    arch: str = ""
    parts: Mapping[str, tuple[RowPart, ...]] = field(default_factory=dict)
    proven: Mapping[int, int] = field(default_factory=dict)

    @property
    def needed(self) -> tuple[RankTerm, ...]:
        return tuple(term for term in self.terms if term.needed)

    @property
    def all_known(self) -> bool:
        return all(term.forms for term in self.needed)

    @property
    def least(self) -> int:
        """The fewest words that a row must hold: one half; none where only its scope is known."""
        return 0 if self.only_scope else math.ceil(len(self.needed) / 2)

    @property
    def only_scope(self) -> bool:
        """Whether nothing holds a word of it but those that its scope was read from."""
        soft = any(term.forms for term in self.terms if not term.needed)
        return soft and not any(term.forms for term in self.needed)

    def at_most(self, without: str = "") -> int:
        """Rows that can hold all words and the scope, or the scope without one facet."""
        left = {without, *(["place"] if without in PLACE else [])}
        inside = (rows for name, rows in self.inside.items() if name not in left)
        return min((*self.rows, *inside), default=self.total)


def group_rows(
    query: SearchQuery, asked: AskedWords, group: RowGroup, wanted: int
) -> tuple[list[RankedRow], bool]:
    """The rows of a group in order, and whether there are more that hold all words.

    With fewer than `wanted` that hold all words, most are enough.
    """
    kinds = [kind for kind in group.kinds if query.kind in ("", kind)]
    if not kinds:
        return [], False
    inside = [holds_any(f"kind={kind}" for kind in kinds), *scope_of(query, group)]
    if asked.arch and group.unstated_holds:
        inside.append(holds_any((*rows_of("arch", asked.arch), "arch=any")))
    rows: dict[int, RankRow] = {}
    if asked.all_known:
        every = all_of((*inside, *(holds_any(sorted(term.forms)) for term in asked.needed)))
        rows = _fetched(every, group, asked, asked.at_most())
    more = len(rows) > group.most
    if asked.only_scope and asked.needed and not group.newest:
        rows = _fetched(all_of(inside), group, asked, asked.total)
    elif len(rows) < wanted and (some := _some(asked, group)):
        rows |= _fetched(all_of((*inside, some)), group, asked, sum(asked.rows))
    listed = list(rows.values())[: group.most]
    count_all = group.unstated_holds
    return ranked(listed, asked.terms, asked.least, count_all=count_all), more


def scope_of(query: SearchQuery, group: RowGroup) -> list[str]:
    """The conditions of a query's scope on the rows of a group."""
    asks_all = group.unstated_holds or group.text_holds
    place = "" if asks_all else place_of_scope(query.scope)
    parts: list[str] = [holds(place)] if place else []
    for facet in query.facets:
        # An outcome that the text says is none of rows that have none.
        soft = facet.name == "outcome" and bool(facet.said) and asks_all
        if facet.name == "kind" or soft or (place and facet.name in PLACE):
            continue
        words = list(rows_of(facet.name, facet.value))
        held = holds_any([*words, f"{facet.name}=any"] if group.unstated_holds else words)
        if group.text_holds and facet.said:
            said = [word for word in words_of(facet.said) if word != facet.name]
            # A page on attention is one on flash attention too.
            together = any_of if facet.name == "op" else all_of
            held = any_of((held, together(map(holds, said))))
        parts.append(held)
    return parts


def place_of_scope(scope: Mapping[str, str]) -> str:
    """The one index word that stands for backend, operation and platform; "" for fewer than two."""
    asked = {name: scope[name] for name in PLACE if name in scope}
    single = all(len(rows_of(name, value)) == 1 for name, value in asked.items())
    return place_word(asked) if single else ""


def _some(asked: AskedWords, group: RowGroup) -> str | None:
    """Rows of which some may hold `least` words; None where none can, or too many may.

    What holds k of n words holds one of any n - k + 1: the rarest of them are asked for.
    """
    least = asked.least
    if group.newest:
        least = max(least, len(asked.needed) - 1)
    elif group.unstated_holds:
        least = max(1, least - len(asked.terms) + len(asked.needed))
    together = sorted(zip(asked.rows, asked.needed, strict=True), key=lambda each: each[0])
    rarest = together[: len(together) - least + 1]
    if group.newest and sum(rows for rows, _ in rarest) > MOST_LOOSE:
        return None
    forms = [form for _, term in rarest for form in sorted(term.forms)]
    return holds_any(forms) if forms and len(together) > 1 else None


def _fetched(wanted: str, group: RowGroup, asked: AskedWords, at_most: int) -> dict[int, RankRow]:
    """At most one more than are ranked, so that it shows whether there are more.

    at_most: rows that can be asked for. A few are read and sorted; of many the index gives the
    newest, or those of each step of evidence in turn, without reading the others.
    """
    parts = asked.parts.get(group.kinds[0], ())
    if group.newest:
        keys = newest_asked(wanted, group.most + 1, parts=parts, at_most=at_most)
    elif group.proven and not is_few(wanted, FEW, parts=parts, at_most=at_most):
        keys = _proven(wanted, group.most + 1, asked, at_most)
    else:
        best = rows_asked(wanted).order_by("-weight", "-pk").values_list(*COLUMNS)
        return {row[0]: RankRow(*row) for row in best[: group.most + 1]}
    rows = {row[0]: row for row in SearchRow.objects.filter(pk__in=keys).values_list(*COLUMNS)}
    return {key: RankRow(*rows[key]) for key in keys if key in rows}


def _proven(wanted: str, most: int, asked: AskedWords, at_most: int) -> list[int]:
    """The keys of contexts, the best proven first."""
    parts = asked.parts.get(Kind.TRACK, ())
    keys: list[int] = []
    for step in PROVEN:
        reached = all_of((wanted, holds(f"proven={step}")))
        few = min(at_most, asked.proven.get(step, 0))
        keys += newest_asked(reached, most - len(keys), parts=parts, at_most=few)
        if len(keys) >= most:
            break
    return keys


CONTEXTS = GROUPS[0]


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
    found = []
    for facet in (each for each in query.facets if each.name != "kind"):
        if not asked.all_known:
            found.append(ExcludedByFacet(facet, 0))
            continue
        rest = replace(query, facets=tuple(each for each in query.facets if each is not facet))
        words = (holds_any(sorted(term.forms)) for term in asked.needed)
        inside = all_of((holds_any(["kind=track"]), *scope_of(rest, CONTEXTS), *words))
        keys = newest_asked(
            but_not(inside, holds_any(rows_of(facet.name, facet.value))),
            MOST_EXCLUDED + 1,
            parts=asked.parts.get(Kind.TRACK, ()),
            at_most=asked.at_most(without=facet.name),
        )
        held = SearchRow.objects.filter(pk__in=keys).values_list("facets", flat=True)
        values = Counter(value for facets in held if (value := facets.get(facet.name)))
        count, most = min(len(keys), MOST_EXCLUDED), tuple(values.most_common(MOST_VALUES))
        found.append(ExcludedByFacet(facet, count, len(keys) > MOST_EXCLUDED, most))
    return tuple(found)


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
    everything, _ = group_rows(query, replace(asked, terms=(), rows=()), CONTEXTS, 0)
    counts = facet_counts(everything)
    open_ones = (name for name in counts if name not in query.scope and name != "kind")
    return {name: counts[name][:MOST_VALUES] for name in open_ones if counts[name]}
