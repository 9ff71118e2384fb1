"""The words of the index: in how many rows each stands, and which values the facets have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Q

from knowledge.experience.terms import Bottleneck
from knowledge.models import Kind, SearchWord
from knowledge.search.engine import RowPart
from knowledge.search.tokens import FACETS, FAILED, STANDS_FOR, WORKED, likenesses, shown_value

ANY = "any"
# What a facet may be whether a row has it or not.
ALWAYS: dict[str, tuple[str, ...]] = {
    "outcome": (WORKED, FAILED),
    "kind": tuple(Kind.values),
    "symptom": tuple(each.value for each in Bottleneck),
}


@dataclass(frozen=True)
class FacetValues:
    """Facet → the values that rows have, with the number of rows."""

    rows: Mapping[str, Mapping[str, int]]

    @cached_property
    def known(self) -> dict[str, tuple[str, ...]]:
        """Facet → every value that may be asked for, alone or with what stands for it."""
        found = {}
        for name in FACETS:
            values = dict.fromkeys((*self.rows.get(name, {}), *ALWAYS.get(name, ())))
            groups = STANDS_FOR.get(name, {})
            held = [each for each, same in groups.items() if not values.keys().isdisjoint(same)]
            found[name] = (*values, *(each for each in held if each not in values))
        return found


def facet_values() -> FacetValues:
    """The values of all facets; one query."""
    wanted = Q()
    for name in FACETS:
        wanted |= Q(word__startswith=f"{name}=")
    found: dict[str, dict[str, int]] = {name: {} for name in FACETS}
    for word, rows in SearchWord.objects.filter(wanted, rows__gt=0).values_list("word", "rows"):
        name, value = shown_value(word)
        if value != ANY:
            found[name][value] = rows
    return FacetValues(found)


@dataclass(frozen=True)
class KnownWords:
    """Words of a query: each with its forms that the index has and their rows.

    marks: of index words, their rows. parts: kind → the parts of its rows, the newest first.
    total: all rows.
    """

    forms: Mapping[str, Mapping[str, int]]
    marks: Mapping[str, int]
    parts: Mapping[str, tuple[RowPart, ...]]
    total: int


def words_known(words: Iterable[str], marks: Iterable[str]) -> KnownWords:
    """What the index knows of these words with their likenesses, and of these facets; one query.

    A word that has neither itself nor a likeness there gets no forms.
    """
    forms = {word: (word, *likenesses(word)) for word in words}
    kinds = [f"kind={kind}" for kind in Kind.values]
    listed = tuple(marks)
    wanted = {form for each in forms.values() for form in each} | {*kinds, *listed}
    asked = Q(word__in=wanted) | Q(word__startswith="part=")
    rows = dict(SearchWord.objects.filter(asked, rows__gt=0).values_list("word", "rows"))
    parts: dict[str, list[RowPart]] = {}
    for word in sorted(
        (word for word in rows if word.startswith("part=")), key=_part, reverse=True
    ):
        kind = word.removeprefix("part=").partition("-")[0]
        parts.setdefault(kind, []).append(RowPart(word, rows[word]))
    return KnownWords(
        {word: {f: rows[f] for f in each if f in rows} for word, each in forms.items()},
        {mark: rows.get(mark, 0) for mark in listed},
        {kind: tuple(listed) for kind, listed in parts.items()},
        sum(rows.get(kind, 0) for kind in kinds),
    )


def _part(word: str) -> int:
    return int(word.rpartition("-")[2])
