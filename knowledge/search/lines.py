"""PURE: the place of a text that matches best, short enough to be shown."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from knowledge.search.rank import RankTerm
from knowledge.search.tokens import WORD, words_of

LONGEST = 220  # characters that are shown


@dataclass(frozen=True, slots=True)
class MatchedLine:
    """A line of a text, counted from 1, what it tells, and its words as far as they are shown."""

    number: int
    tells: float
    text: str


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
    best = max(held, key=lambda line: (sum(held[line].values()), -line))
    words = plain.split("\n")[best - 1] if len(plain) != len(text) else text.split("\n")[best - 1]
    return MatchedLine(best, sum(held[best].values()), around(words.strip(" |"), telling))


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
