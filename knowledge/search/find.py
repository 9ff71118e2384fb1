"""Search over everything that the team has: one query, its hits by kind, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import Any

from django.db.models import Q

from knowledge.experience.terms import Bottleneck
from knowledge.lookup.listing import FilterError, slug_meant
from knowledge.models import Kind, Platform, SearchRow, SearchWord
from knowledge.search.best import Asked, best_of, worth_of
from knowledge.search.candidates import (
    GROUPS,
    AskedWords,
    ExcludedByFacet,
    excluded_by,
    facet_counts,
    group_rows,
    place_of_scope,
    values_in_scope,
)
from knowledge.search.engine import RowPart, by_index
from knowledge.search.hits import SearchHit, hits_of
from knowledge.search.index import PROVEN
from knowledge.search.query import SearchQuery, parse_query
from knowledge.search.rank import RankedRow, RankTerm, term_of, with_neighbours
from knowledge.search.tokens import (
    CALLED,
    FACETS,
    FAILED,
    MODEL,
    SAID,
    STANDS_FOR,
    WORKED,
    likenesses,
    rows_of,
    shown_value,
    words_of,
)

ANY = "any"
# What a facet may be whether a row has it or not.
ALWAYS: dict[str, tuple[str, ...]] = {
    "outcome": (WORKED, FAILED),
    "kind": tuple(Kind.values),
    "symptom": tuple(each.value for each in Bottleneck),
}
BEST_SECTION, WORKED_SECTION, DID_NOT_SECTION = "best", "worked", "did_not"
SIDED = (Kind.TRACK, Kind.LESSON)  # what has an outcome that a person compares
CLOSER = 3  # times as many rows as are shown get a closer look
LOOKED_AT = 60  # documents whose lines are read
MOST_NEAR_WORDS = 3
MOST_ACCEPTED = 40
LONGEST_SHOWN = 80  # characters of a value that is refused
MOST_READ = 3_000  # words of the index that are compared
MOST_NEAR = 3
MOST_EDITS = 2
SHORTEST = 3  # letters of a word that is worth a guess
SHORTEST_PREFIX = 4


@dataclass(frozen=True, slots=True)
class KindHits:
    """The best rows of one section. count: of rows with all words; where there is none, with most.

    more: there are more than the count says. partial: no row holds all words.
    """

    rows: tuple[SearchHit, ...] = ()
    count: int = 0
    more: bool = False
    partial: bool = False

    def __iter__(self) -> Iterator[SearchHit]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class SearchResults:
    """What a query found. worked, did_not: contexts and lessons with an outcome; kinds: the rest.

    best: the best answers of all kinds; they stand among those of their kind too.

    forms: the words to mark in texts. facets: facet → value → rows with it among those found.
    inside: without any hit, what the scope holds without the words.
    """

    query: SearchQuery
    best: KindHits = KindHits()
    worked: KindHits = KindHits()
    did_not: KindHits = KindHits()
    kinds: Mapping[str, KindHits] = field(default_factory=dict)
    excluded: tuple[ExcludedByFacet, ...] = ()
    near: tuple[NearWord, ...] = ()
    facets: Mapping[str, Sequence[tuple[str, int]]] = field(default_factory=dict)
    inside: Mapping[str, Sequence[tuple[str, int]]] = field(default_factory=dict)
    forms: frozenset[str] = frozenset()

    @property
    def sections(self) -> dict[str, KindHits]:
        """Name → hits, in the order of the page: each hit once, the best first."""
        taken = set(self.best)
        rest = {
            kind: replace(hits, rows=tuple(hit for hit in hits if hit not in taken))
            for kind, hits in self.kinds.items()
        }
        sides = {WORKED_SECTION: self.worked, DID_NOT_SECTION: self.did_not}
        return {BEST_SECTION: self.best, **sides, **rest}

    @property
    def counts(self) -> dict[str, KindHits]:
        """Name → hits, the best among them, of each section that has any."""
        every = {WORKED_SECTION: self.worked, DID_NOT_SECTION: self.did_not, **self.kinds}
        return {name: hits for name, hits in every.items() if len(hits)}

    @property
    def found(self) -> bool:
        return any(len(each) for each in self.sections.values())

    def records(self) -> list[dict[str, Any]]:
        """Every hit in the order of the page, flat, as files have it."""
        return [hit.record(name) for name, hits in self.sections.items() for hit in hits]


def ask(text: str, facets: Mapping[str, str]) -> SearchQuery:
    """Read a query with the values that rows have. FilterError for a facet that has no such one."""
    known = known_values()
    chosen = {}
    for name, value in facets.items():
        if not value:
            continue
        if name not in FACETS:
            raise FilterError(name, f"unknown facet; accepted: {', '.join(FACETS)}")
        meant = SAID.get(name, {}).get(value.lower(), value)
        meant = slug_meant(meant) if name == "platform" else meant
        same = [each for each in known[name] if words_of(each) == words_of(meant)]
        if not same:
            listed = sorted(known[name])
            more = f" and {len(listed) - MOST_ACCEPTED} more" if len(listed) > MOST_ACCEPTED else ""
            accepted = f"{', '.join(listed[:MOST_ACCEPTED])}{more}" if listed else "none yet"
            raise FilterError(name, f"'{value[:LONGEST_SHOWN]}'; accepted: {accepted}")
        chosen[name] = same[0]
    return parse_query(text, chosen, known)


def search(query: SearchQuery, per_kind: int = 10) -> SearchResults:
    """Find what answers the query, `per_kind` rows of each section at most."""
    if query.empty:
        return SearchResults(query)
    with by_index():
        asked = _asked_words(query)
        groups = [group_rows(query, asked, group, per_kind) for group in GROUPS]
        excluded = excluded_by(query, asked) if query.scope else ()
    sections = _sections(groups, asked.terms, per_kind)
    unknown = [term.word for term in asked.needed if not term.forms][:MOST_NEAR_WORDS]
    held = Asked(query, asked.terms)
    best = tuple(best_of(chain(*sections.values()), held))
    sections = {name: _cut(hits, per_kind, held) for name, hits in sections.items()}
    worked, did_not = (sections.pop(each, KindHits()) for each in (WORKED_SECTION, DID_NOT_SECTION))
    found = SearchResults(
        query,
        KindHits(best, len(best)),
        worked,
        did_not,
        {kind: sections[kind] for kind in Kind.values if kind in sections},
        excluded,
        tuple(near for near in map(near_words, unknown) if near.instead),
        facet_counts(row for rows, _ in groups for row in rows),
        forms=frozenset(form for term in asked.terms for form in term.forms),
    )
    return found if found.found else replace(found, inside=values_in_scope(query, asked))


def _asked_words(query: SearchQuery) -> AskedWords:
    """The query's words with what is known of them, and softly those that its scope was read from.

    The scope holds for every row of evidence, but a lesson for any operation is the better one if
    it speaks of this one.
    """
    said = [w for f in query.facets if f.name != "kind" for w in words_of(f.said) if w != f.name]
    forms = {word: (word, *likenesses(word)) for word in (*query.words, *said)}
    for word, more in chain(_written_together(query.words), _called(query)):
        forms[word] = (*forms[word], *more)
    kinds = [f"kind={kind}" for kind in Kind.values]
    proven = {step: f"proven={step}" for step in PROVEN}
    scope = {name: rows_of(name, value) for name, value in query.scope.items()}
    if place := place_of_scope(query.scope):
        scope["place"] = (place,)
    words = {*chain(*forms.values(), *scope.values()), *kinds, *proven.values()}
    models = [word for word in query.words if MODEL.fullmatch(word)]
    wanted = Q(word__in=words) | Q(word__startswith="part=")
    for model in models:
        wanted |= Q(word__gt=model, word__lt=f"{model}zzz")
    held = SearchWord.objects.filter(wanted, rows__gt=0)
    rows = Counter(dict(held.values_list("word", "rows")))
    for model in models:
        longer = (w for w in rows if w.isalnum() and w.startswith(model))
        forms[model] = tuple(dict.fromkeys((*forms[model], *longer)))
    total = sum(rows[kind] for kind in kinds)
    platform = query.scope.get("platform", "")
    known = Platform.objects.filter(slug=platform) if platform else Platform.objects.none()
    terms = []
    for word, each in forms.items():
        counts = {form: rows[form] for form in each if form in rows}
        terms.append(term_of(word, counts, total, needed=word in query.words))
    return AskedWords(
        tuple(terms),
        tuple(sum(rows[form] for form in forms[word]) for word in query.words),
        {name: sum(rows[mark] for mark in marks) for name, marks in scope.items()},
        total,
        known.values_list("target", flat=True).first() or "",
        _parts_in(rows),
        {step: rows[mark] for step, mark in proven.items()},
    )


def _written_together(words: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Words with what they are with their neighbour where a text parts them not: "split k"."""
    for one, other in pairwise(words):
        yield from ((word, (one + other,)) for word in (one, other))


def _called(query: SearchQuery) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Words of an operation with the nouns that it goes by: "matmul" is a matrix product too."""
    for facet in (each for each in query.facets if each.name == "op" and each.said):
        names = CALLED["op"].get(facet.value, "")
        nouns = {words_of(name)[-1] for name in names.split(", ") if " " in name}
        for word in words_of(facet.said)[-1:]:
            yield word, tuple(more for noun in nouns for more in (noun, *likenesses(noun)))


def known_values() -> dict[str, tuple[str, ...]]:
    """Facet → every value that may be asked for, alone or with what stands for it; one query."""
    wanted = Q()
    for name in FACETS:
        wanted |= Q(word__startswith=f"{name}=")
    held: dict[str, list[str]] = {name: [] for name in FACETS}
    for word in SearchWord.objects.filter(wanted, rows__gt=0).values_list("word", flat=True):
        name, value = shown_value(word)
        if value != ANY:
            held[name].append(value)
    found = {}
    for name in FACETS:
        values = dict.fromkeys((*held[name], *ALWAYS.get(name, ())))
        groups = STANDS_FOR.get(name, {})
        whole = [each for each, same in groups.items() if not values.keys().isdisjoint(same)]
        found[name] = tuple(dict.fromkeys((*values, *whole)))
    return found


def _parts_in(rows: Mapping[str, int]) -> dict[str, tuple[RowPart, ...]]:
    """Kind → the parts of its rows, the newest first."""
    parts: dict[str, tuple[RowPart, ...]] = {}
    named = (word for word in rows if word.startswith("part="))
    for word in sorted(named, key=lambda word: int(word.rpartition("-")[2]), reverse=True):
        kind = word.removeprefix("part=").partition("-")[0]
        parts[kind] = (*parts.get(kind, ()), RowPart(word, rows[word]))
    return parts


def _sections(
    groups: Sequence[tuple[list[RankedRow], bool]], terms: Sequence[RankTerm], per_kind: int
) -> dict[str, KindHits]:
    """Section → its best rows, after a closer look at those that come first."""
    parts: dict[str, list[RankedRow]] = {}
    for each in (row for ranked, _ in groups for row in ranked):
        name, words = each.row.kind, each.row.words
        if name in SIDED and f"outcome={WORKED} " in words:
            name = WORKED_SECTION
        elif name in SIDED and f"outcome={FAILED} " in words:
            name = DID_NOT_SECTION
        parts.setdefault(name, []).append(each)
    for found in parts.values():
        found.sort(key=lambda row: row.place)
    most: dict[str, int] = {Kind.DOCUMENT: max(LOOKED_AT, CLOSER * per_kind)}
    close = {name: rows[: most.get(name, CLOSER * per_kind)] for name, rows in parts.items()}
    rows = SearchRow.objects.in_bulk([each.row.pk for found in close.values() for each in found])
    texts = {pk: row.body for pk, row in rows.items()}
    near = {name: with_neighbours(found, texts, terms) for name, found in close.items()}
    # A document shows on its lines what it is worth.
    best = {name: each if name == Kind.DOCUMENT else each[:per_kind] for name, each in near.items()}
    hits = hits_of(best, rows, terms)
    capped = {each.row.kind for ranked, more in groups if more for each in ranked}
    made = {}
    for name, found in parts.items():
        whole = sum(not each.missing for each in found)
        more = bool(whole) and not capped.isdisjoint(each.row.kind for each in found)
        made[name] = KindHits(tuple(hits[name]), whole or len(found), more, not whole)
    return made


def _cut(hits: KindHits, per_kind: int, asked: Asked) -> KindHits:
    """Cut to as many as are shown; documents are ordered by the worth of their lines."""
    rows = hits.rows
    if rows and rows[0].kind == Kind.DOCUMENT:
        rows = tuple(sorted(rows, key=lambda hit: (bool(hit.missing), -worth_of(hit, asked))))
    return replace(hits, rows=rows[:per_kind])


@dataclass(frozen=True, slots=True)
class NearWord:
    """A word that nothing holds, and words that are nearly it, the most likely first."""

    word: str
    instead: tuple[str, ...]


def near_words(word: str) -> NearWord:
    """What may be meant: two letters away at most, or longer by an ending."""
    if len(word) < SHORTEST or word.isdigit():
        return NearWord(word, ())
    found = (
        SearchWord.objects.filter(word__startswith=word[0], rows__gt=0)
        .exclude(word__contains="=")
        .order_by("-rows")
        .values_list("word", "rows")[:MOST_READ]
    )
    likely = []
    for each, rows in found:
        if (away := _away(word, each)) is not None:
            likely.append((away, -rows, each))
    return NearWord(word, tuple(each for *_, each in sorted(likely)[:MOST_NEAR]))


def _away(word: str, other: str) -> int | None:
    """The distance between two words; None if it is too far."""
    most = MOST_EDITS if len(word) > SHORTEST_PREFIX else 1
    # Each edit changes two letters of the set at most.
    if abs(len(word) - len(other)) <= most and len(set(word) ^ set(other)) <= 2 * most:
        edits = edits_between(word, other, most)
        if edits <= most:
            return edits
    starts = len(word) >= SHORTEST_PREFIX and other.startswith(word)
    return MOST_EDITS + 1 if starts else None


def edits_between(first: str, second: str, most: int) -> int:
    """Letters to add, leave out, change or swap with the next; counting ends beyond `most`."""
    before: list[int] = []
    last = list(range(len(second) + 1))
    for row, letter in enumerate(first, 1):
        here = [row]
        for column, other in enumerate(second, 1):
            cost = min(last[column] + 1, here[column - 1] + 1, last[column - 1] + (letter != other))
            swapped = row > 1 and column > 1 and letter == second[column - 2]
            if swapped and first[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            here.append(cost)
        if min(here) > most:
            return most + 1
        before, last = last, here
    return last[-1]
