"""PURE: the few best answers to a query, whatever their kind.

A page shows them first. A word counts by where it stands: most in a title, less in what a thing
says of itself or on one line of a document, least anywhere else. All words count, each by what it
tells; a row without one of them comes after those with all only if that word tells much.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from knowledge.models import Kind
from knowledge.search.hits import SearchHit
from knowledge.search.query import SearchQuery
from knowledge.search.rank import RankTerm
from knowledge.search.tokens import MODEL, words_of

MOST_BEST = 5
LEAST_SHARE = 0.3  # of the best answer's worth; what is worth less is no best answer
# What a word is worth that stands in the title; in what the shown line of a document is about; in
# the summary, as its first paragraph; on that line; only as a facet; and elsewhere.
TITLE, SUBJECT, SUMMARY, LINE, FACET = 1.0, 0.8, 0.7, 0.6, 0.4
ELSEWHERE = {Kind.DOCUMENT: 0.15, Kind.SPEC: 0.8}
OTHERS_ELSEWHERE = 0.6
# Words that stand side by side in the query and there; and how much of a title is asked for.
# And a document of which many lines say it.
NEIGHBOURS, WHOLE_TITLE, MORE_LINES = 0.15, 0.1, 0.15
MISSING = 0.7  # for each word that it does not hold
# A number of a product that nobody named; a value beside the preferred one, or of a part or a point
# of a sweep; a page that only lists others.
UNASKED_PRODUCT, SIDE_VALUE, INDEX_PAGE = 0.5, 0.85, 0.5
# Who only names a product or an operation asks for its page before its numbers and techniques.
ABOUT = {Kind.PLATFORM: 1.5, Kind.DOCUMENT: 1.1, Kind.SPEC: 0.6}
MENTIONS = 0.8  # a document that is about something else
SHEET = 0.75
OF_PRODUCTS = re.compile(r"/(hardware|measured)/")  # folders of a wiki
ANSWERS = (Kind.PLATFORM, Kind.SPEC, Kind.DOCUMENT, Kind.STRATEGY, Kind.LESSON)


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as its answers are held against it."""

    query: SearchQuery
    terms: Sequence[RankTerm]

    @property
    def only_names(self) -> bool:
        """Whether it names a product or an operation, and asks nothing of it."""
        names = {"platform", "arch", "op"}.issuperset(self.query.scope)
        return names and all(map(MODEL.fullmatch, self.query.words))

    def names(self, platform: str) -> bool:
        """Whether it names this product, whole or by the first letters of its model."""
        model = {word for word in words_of(platform) if any(map(str.isdigit, word))}
        return any(not model.isdisjoint(term.forms) for term in self.terms)


def best_of(hits: Iterable[SearchHit], asked: Asked) -> list[SearchHit]:
    """The best answers, at most five, the best first; of one value of a product only one."""
    worth = {hit: worth_of(hit, asked) for hit in hits if is_answer(hit)}
    order = sorted(worth, key=lambda hit: -worth[hit])
    found: dict[tuple[str, ...], SearchHit] = {}
    for hit in order:
        if worth[hit] and worth[hit] >= LEAST_SHARE * worth[order[0]]:
            found.setdefault(_question(hit, asked), hit)
    return list(found.values())[:MOST_BEST]


def is_answer(hit: SearchHit) -> bool:
    """Whether it can be an answer: it counts, and is no single attempt, round or open question.

    What worked and what did not stands beside each other, and in no other order.
    """
    return hit.kind in ANSWERS and not hit.mark and not hit.outcome


def _question(hit: SearchHit, asked: Asked) -> tuple[str, ...]:
    """What an answer answers: a metric of a product; of any, where the query names none."""
    if hit.kind != Kind.SPEC:
        return hit.kind, hit.key
    platform = hit.facts["platform"]
    return hit.kind, hit.facts["metric"], platform if asked.names(platform) else ""


def worth_of(hit: SearchHit, asked: Asked) -> float:
    """What a row is worth as an answer: about 1 where it holds all words in its title."""
    total = sum(term.tells for term in asked.terms)
    if not total:
        return 0.0
    places = hit.places
    held = sum(term.tells * _held(term, places, hit.kind) for term in asked.terms) / total
    title = words_of(hit.title.rpartition(": ")[0] if hit.kind == Kind.SPEC else hit.title)
    forms = {form for term in asked.terms for form in term.forms}
    names = title, places["subject"], hit.facts.get("file_name", ())
    whole = max(_share(name, forms) for name in names)
    bonus = WHOLE_TITLE * whole + NEIGHBOURS * _beside(asked.terms, places)
    bonus += MORE_LINES * min(1.0, math.log2(hit.facts.get("like_it", 1)) / 4)
    worth = held * (1 + bonus)
    if asked.only_names:
        about = hit.kind != Kind.DOCUMENT or forms.intersection(chain(title, places["summary"]))
        worth *= ABOUT.get(Kind(hit.kind), 1.0) if about else MENTIONS
    return worth * MISSING ** len(hit.missing) * _fitness(hit, asked)


def _share(words: Sequence[str], forms: Collection[str]) -> float:
    return sum(word in forms for word in words) / max(1, len(words))


def _fitness(hit: SearchHit, asked: Asked) -> float:
    """How far a value or a document is of the kind that such a query asks for, 0 to 1."""
    address = hit.url.partition("#")[0]
    fit = INDEX_PAGE if address.endswith("/README.md") else 1.0
    if hit.kind == Kind.SPEC:
        fit *= 1.0 if hit.facts["plain"] else SIDE_VALUE
    product = hit.facts.get("platform", "")
    if OF_PRODUCTS.search(address):
        # Its lines are the values, which stand before it.
        product, fit = hit.title, fit if asked.only_names else fit * SHEET
    return fit * (1.0 if not product or asked.names(product) else UNASKED_PRODUCT)


def _held(term: RankTerm, places: Mapping[str, Sequence[str]], kind: str) -> float:
    """What this word is worth where it stands; 0 where it does not."""
    if not term.forms.isdisjoint(places["title"]):
        return TITLE
    if not term.forms.isdisjoint(places["subject"]):
        return SUBJECT
    summary = not term.forms.isdisjoint(places["summary"])
    if summary and kind != Kind.SPEC:
        return SUMMARY
    if not term.forms.isdisjoint(places["line"]):
        return LINE
    if not term.forms.isdisjoint(places["words"]):
        return ELSEWHERE.get(Kind(kind), OTHERS_ELSEWHERE) * (0.5 if summary else 1.0)
    marks = {word.partition("=")[2] for word in places["words"] if "=" in word}
    return FACET if not term.forms.isdisjoint(marks) else 0.0


def _beside(terms: Sequence[RankTerm], places: Mapping[str, Sequence[str]]) -> float:
    """The share of neighbours of the query that are neighbours in its title or line too."""
    needed = [term for term in terms if term.needed]
    pairs = list(pairwise(needed))
    texts = [list(pairwise(places[name])) for name in ("title", "line", "subject")]
    beside = sum(
        any(one in a.forms and other in b.forms for text in texts for one, other in text)
        for a, b in pairs
    )
    return beside / len(pairs) if pairs else 0.0
