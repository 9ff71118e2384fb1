"""The rows that may answer a query: found by the index, few enough to be ranked in full.

Contexts, lessons, strategies, values and documents are few, and the best proven of them are
ranked. Single attempts and rounds are many: of those the newest are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from knowledge.models import Kind, SearchRow
from knowledge.search.aliases import rows_of
from knowledge.search.engine.expression import (
    AllOf,
    AnyOf,
    Expression,
    Holds,
    all_of,
    holds_any,
)
from knowledge.search.engine.rows import RowPart, is_few, newest_asked, rows_asked
from knowledge.search.index import PROVEN
from knowledge.search.query import QueryFacet, SearchQuery
from knowledge.search.rank import RankedRow, RankRow, RankTerm, ranked
from knowledge.search.tokens import PLACE, place_word, words_of

MOST = 1_000  # rows of one group that are ranked; beyond it a count says "more than"
MOST_PROVEN = 500  # contexts, of which the best proven come first already
FEW = 8_000  # rows that are read to be sorted
MOST_LOOSE = 50_000  # rows that may hold some of the words; beyond it attempts need all of them
COLUMNS = ("pk", "kind", "title", "words", "weight")


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
    RowGroup((Kind.SPEC, Kind.DOCUMENT), text_holds=True),
)


@dataclass(slots=True)
class GroupRows:
    """What was found of a group: rows in order, how many hold all words, and whether more do."""

    rows: list[RankedRow] = field(default_factory=list)
    more: bool = False


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
        """Of how many words a row must hold at least one half."""
        return math.ceil(len(self.needed) / 2)

    def at_most(self, without: str = "") -> int:
        """Rows that can hold all words and the scope, or the scope without one facet."""
        left = {without, *(["place"] if without in PLACE else [])}
        inside = (rows for name, rows in self.inside.items() if name not in left)
        return min((*self.rows, *inside), default=self.total)


def group_rows(query: SearchQuery, asked: AskedWords, group: RowGroup, wanted: int) -> GroupRows:
    """The rows of a group. With fewer than `wanted` that hold all words, most are enough."""
    kinds = [kind for kind in group.kinds if query.kind in ("", kind)]
    if not kinds:
        return GroupRows()
    inside = [holds_any(f"kind={kind}" for kind in kinds), *scope_of(query, group)]
    if asked.arch and group.unstated_holds:
        inside.append(holds_any((*rows_of("arch", asked.arch), "arch=any")))
    found = GroupRows()
    rows: dict[int, RankRow] = {}
    if asked.all_known:
        every = all_of((*inside, *(holds_any(sorted(term.forms)) for term in asked.needed)))
        rows = _fetched(every, group, asked, asked.at_most())
        found.more = len(rows) > group.most
    if len(rows) < wanted and (some := _some(asked, group)):
        rows |= _fetched(AllOf((*inside, some)), group, asked, sum(asked.rows))
    listed = list(rows.values())[: group.most]
    found.rows = ranked(listed, asked.terms, asked.least, count_all=group.unstated_holds)
    return found


def scope_of(query: SearchQuery, group: RowGroup) -> list[Expression]:
    """The conditions of a query's scope on the rows of a group."""
    place = "" if group.unstated_holds or group.text_holds else place_of_scope(query.scope)
    parts: list[Expression] = [Holds(place)] if place else []
    for facet in query.facets:
        if facet.name == "kind" or (facet.name == "outcome" and _soft(facet, group)):
            continue
        if not place or facet.name not in PLACE:
            parts.append(_holds(facet, group))
    return parts


def place_of_scope(scope: Mapping[str, str]) -> str:
    """The one index word that stands for backend, operation and platform; "" for fewer than two."""
    asked = {name: scope[name] for name in PLACE if name in scope}
    single = all(len(rows_of(name, value)) == 1 for name, value in asked.items())
    return place_word(asked) if single else ""


def _soft(facet: QueryFacet, group: RowGroup) -> bool:
    """Whether the text says an outcome of rows that have none."""
    return bool(facet.said) and (group.unstated_holds or group.text_holds)


def _holds(facet: QueryFacet, group: RowGroup) -> Expression:
    words = list(rows_of(facet.name, facet.value))
    if group.unstated_holds:
        words.append(f"{facet.name}=any")
    held = holds_any(words)
    if group.text_holds and facet.said:
        said = [word for word in words_of(facet.said) if word != facet.name]
        return AnyOf((held, all_of(Holds(word) for word in said)))
    return held


def _some(asked: AskedWords, group: RowGroup) -> Expression | None:
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


def _fetched(
    wanted: Expression, group: RowGroup, asked: AskedWords, at_most: int
) -> dict[int, RankRow]:
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


def _proven(wanted: Expression, most: int, asked: AskedWords, at_most: int) -> list[int]:
    """The keys of contexts, the best proven first."""
    parts = asked.parts.get(Kind.TRACK, ())
    keys: list[int] = []
    for step in PROVEN:
        reached = AllOf((wanted, Holds(f"proven={step}")))
        few = min(at_most, asked.proven.get(step, 0))
        keys += newest_asked(reached, most - len(keys), parts=parts, at_most=few)
        if len(keys) >= most:
            break
    return keys
