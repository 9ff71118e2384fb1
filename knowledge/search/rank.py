"""PURE: the order of rows for a query, the same on every database.

A word that few rows have says more. A word in a title counts three times one in a text, one of a
facet twice; one of the scope, which all rows have, half. Words that stand beside each other in the
query and in a row count once more by half.
Rows with all words come before those with most of them; equal rows are told apart by their
evidence.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from knowledge.search.tokens import WORD, words_of

TITLE, FACET, BODY, SCOPE = 3.0, 2.0, 1.0, 0.5
NEIGHBOURS_IN_TITLE, NEIGHBOURS_IN_BODY = 1.0, 0.5
# How much a longer text than usual says less of each of its words (as in BM25).
SATURATION, LENGTH = 1.2, 0.75
LINKED = re.compile(r"\[([^\]]*)\]\([^)]*\)")  # a link of Markdown, of which the text is shown
LONGEST = 220  # characters that are shown
SUBJECT = re.compile(r"(?:#+ |\| *|- |\* )(?P<what>[^|:]+?) *(?:[|:]|$)")


@dataclass(frozen=True, slots=True)
class RankTerm:
    """One word of a query: how rows may write it, and what it tells. needed: the scope is not."""

    word: str
    forms: frozenset[str]
    tells: float
    needed: bool = True


@dataclass(frozen=True, slots=True)
class RankRow:
    """One row as the index has it."""

    pk: int
    kind: str
    title: str
    words: str
    weight: float


@dataclass(slots=True)
class RankedRow:
    """A row with what its words are worth.

    missing: words of the query that it does not hold. in_scope: words of the scope that it holds.
    """

    row: RankRow
    score: float
    missing: tuple[str, ...]
    in_scope: int = 0

    @property
    def place(self) -> tuple[bool, float, float, int]:
        """Sort by this: the best come first."""
        return bool(self.missing), -self.score, -self.row.weight, -self.row.pk

    @property
    def marks(self) -> list[str]:
        """The facets of the row as index words; they stand first."""
        return list(takewhile(lambda word: "=" in word, self.row.words.split(" ")))


def term_of(word: str, forms: Mapping[str, int], rows: int, *, needed: bool = True) -> RankTerm:
    """A word with its forms and the rows of each. rows: of the whole index."""
    held = min(rows, sum(forms.values()))
    return RankTerm(word, frozenset(forms), math.log(1 + (rows + 1) / (held + 1)), needed)


def ranked(
    rows: Sequence[RankRow], terms: Sequence[RankTerm], least: int, *, count_all: bool = False
) -> list[RankedRow]:
    """The rows with at least `least` of the needed terms, the best first.

    count_all: terms that are not needed count too, beside one at least that is.
    """
    if not rows:
        return []
    usual = sum(len(row.words) for row in rows) / len(rows)
    needed = sum(term.needed for term in terms)
    found = []
    for row in rows:
        text = f" {row.words} "
        length = (1 + SATURATION) / (1 + SATURATION * (1 - LENGTH + LENGTH * len(text) / usual))
        title: set[str] | None = None
        score, missing, in_scope = 0.0, [], 0
        for term in terms:
            forms = [form for form in term.forms if f" {form} " in text]
            if forms:
                if title is None:
                    title = set(words_of(row.title))
                in_title = any(form in title for form in forms)
                score += term.tells * (TITLE if in_title else BODY * length)
                in_scope += not term.needed
            elif any(f"={form} " in text for form in term.forms):
                score += (FACET if term.needed else SCOPE) * term.tells
            elif term.needed:
                missing.append(term.word)
        share = 1 - len(missing) / max(1, sum(term.needed for term in terms))
        made = RankedRow(row, score * share, tuple(missing), in_scope)
        held = needed - len(made.missing)
        if held + made.in_scope * (count_all and held > 0) >= min(least, needed):
            found.append(made)
    return sorted(found, key=lambda each: each.place)


def with_neighbours(
    found: Sequence[RankedRow], texts: Mapping[int, str], terms: Sequence[RankTerm]
) -> list[RankedRow]:
    """The same rows, those first in which words of the query stand side by side."""
    pairs = [(a, b) for a, b in itertools.pairwise(terms) if a.needed and b.needed]
    for each in found if pairs else ():
        title = _side_by_side(words_of(each.row.title), pairs)
        body = _side_by_side(words_of(texts.get(each.row.pk, "")), pairs)
        each.score += NEIGHBOURS_IN_TITLE * title + NEIGHBOURS_IN_BODY * body
    return sorted(found, key=lambda each: each.place)


def _side_by_side(words: list[str], pairs: Sequence[tuple[RankTerm, RankTerm]]) -> float:
    """What the pairs tell whose words stand side by side."""
    score = 0.0
    for first, second in pairs:
        if any(a in first.forms and b in second.forms for a, b in itertools.pairwise(words)):
            score += (first.tells + second.tells) / 2
    return score


@dataclass(frozen=True, slots=True)
class MatchedLine:
    """A line of a text, counted from 1, what it tells, the part that is shown, and its words.

    subject: the words of what it is about. like_it: how many lines tell as much, itself among them.
    """

    number: int
    tells: float
    text: str
    words: Sequence[str]
    subject: Sequence[str]
    like_it: int


def best_line(text: str, terms: Sequence[RankTerm]) -> MatchedLine | None:
    """The first line that holds most of what the terms tell; None where none holds any."""
    telling = {form: (term.word, term.tells) for term in terms for form in term.forms}
    if not telling:
        return None
    held: dict[int, dict[str, float]] = {}
    number, seen = 1, 0
    plain = text.lower()
    for match in _pattern(tuple(sorted(telling))).finditer(plain):
        number += plain.count("\n", seen, match.start())
        seen = match.start()
        word, tells = telling[match[1]]
        held.setdefault(number, {})[word] = tells
    if not held:
        return None
    told = {line: sum(words.values()) for line, words in held.items()}
    most = max(told.values())
    lines = (plain if len(plain) != len(text) else text).split("\n")
    likely = [line for line, tells in told.items() if tells == most]
    subjects = {line: _subject(lines[line - 1]) for line in likely}
    asked = {line: sum(word in telling for word in words) for line, words in subjects.items()}
    # What a line is about tells more than what it mentions: a name of few other words most.
    best = max(likely, key=lambda n: (asked[n] / max(4, len(subjects[n])), -n))
    words = lines[best - 1]
    shown = around(LINKED.sub(r"\1", words).strip(" |"), telling)
    return MatchedLine(best, most, shown, words_of(words), subjects[best], len(likely))


def _subject(line: str) -> list[str]:
    """The words of what a line is about: a heading, the first cell, or what stands before ":"."""
    found = SUBJECT.match(line)
    return words_of(found["what"]) if found else []


@lru_cache(maxsize=64)
def _pattern(forms: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_])({'|'.join(map(re.escape, forms))})(?![^\W_])")


def around(text: str, forms: Collection[str]) -> str:
    """The part of a long text around the first of the words."""
    plain = " ".join(text.split())
    if len(plain) <= LONGEST:
        return plain
    first = next((m.start() for m in WORD.finditer(plain) if is_form(m[0], forms)), 0)
    start = max(0, min(first - LONGEST // 3, len(plain) - LONGEST))
    cut = plain[start : start + LONGEST]
    return f"{'…' if start else ''}{cut}{'…' if start + LONGEST < len(plain) else ''}"


def is_form(word: str, forms: Collection[str]) -> bool:
    """Whether a word, as a text writes it, is one of these of the index."""
    return any(part in forms for part in words_of(word))
