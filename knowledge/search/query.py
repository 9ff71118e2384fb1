"""PURE: what somebody typed, as the words and the scope that it asks for.

Nothing of it is a search language: quotes, stars and brackets part words like any other sign.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote_plus

from knowledge.search.tokens import FACETS, PLAIN, SAID, STANDS_FOR, STOP, said_words, words_of

MOST_CHARACTERS, MOST_WORDS = 500, 32
LONGEST_ENCODED = 1_500  # characters of an address, which holds 2,000 in all
LONGEST_PHRASE = 3  # words
NAMED = re.compile(r"(?<![^\s(\"'])(" + "|".join(FACETS) + r")[:=]([\w.+-]+)")
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
PLUS_PLUS = re.compile(r"\bc\+\+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class QueryFacet:
    """One facet of the scope. said: the words of the text that it was read from; "" if chosen."""

    name: str
    value: str
    said: str = ""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is asked for: the text as kept, its words, the scope, and what was done to the text."""

    text: str = ""
    words: tuple[str, ...] = ()
    facets: tuple[QueryFacet, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        return not self.words and not self.facets

    @property
    def scope(self) -> dict[str, str]:
        """Facet → value, without the kind."""
        return {each.name: each.value for each in self.facets if each.name != "kind"}

    @property
    def kind(self) -> str:
        return next((each.value for each in self.facets if each.name == "kind"), "")

    def text_without(self, facet: QueryFacet) -> str:
        """The text without the words that a facet was read from."""
        if not facet.said:
            return self.text
        parts = [re.escape(part) for part in words_of(facet.said)]
        pattern = r"[\W_]*".join(parts).replace("cpp", r"(?:cpp|c\+\+)")
        return " ".join(re.sub(pattern, " ", self.text, count=1, flags=re.IGNORECASE).split())


def parse_query(
    text: str, facets: Mapping[str, str], known: Mapping[str, Iterable[str]] | None = None
) -> SearchQuery:
    """Read a text. facets: chosen beside it; they win over what the text says.

    known: facet → the values that rows have. A word becomes a facet where it can only mean one
    value, and where it is known; without `known` the table of aliases alone decides.
    """
    shortened, notes = _cut(text)
    chosen = [QueryFacet(name, facets[name]) for name in FACETS if facets.get(name)]
    reader = _WordReader(known, chosen)
    words = reader.read(NAMED.sub(reader.note_named, shortened))
    found = sorted(reader.facets, key=lambda facet: FACETS.index(facet.name))
    # Words that every text has are left out, unless there is nothing else.
    telling = [word for word in words if word not in STOP] or ([] if found else words)
    return SearchQuery(
        shortened, tuple(dict.fromkeys(telling))[:MOST_WORDS], tuple(found), tuple(notes)
    )


def _cut(text: str) -> tuple[str, list[str]]:
    """The text as far as it is read, and what was left out."""
    shortened, notes = " ".join(UNSTORABLE.sub(" ", text).split()), []
    if len(shortened) > MOST_CHARACTERS:
        notes.append(f"Only the first {MOST_CHARACTERS} characters are looked for.")
        shortened = shortened[:MOST_CHARACTERS].rstrip()
    while len(quote_plus(shortened)) > LONGEST_ENCODED:
        shortened = shortened[: len(shortened) * 3 // 4].rstrip()
        notes = [f"Only the first {len(shortened)} characters are looked for."]
    parts = shortened.split()
    if len(parts) > MOST_WORDS:
        notes.append(f"Only the first {MOST_WORDS} words are looked for.")
        shortened = " ".join(parts[:MOST_WORDS])
    return shortened, notes


class _WordReader:
    """What words mean, given the values that rows have and the facets that are chosen already."""

    def __init__(
        self, known: Mapping[str, Iterable[str]] | None, chosen: Iterable[QueryFacet]
    ) -> None:
        self.known = None if known is None else {k: set(v) for k, v in known.items()}
        self.facets = list(chosen)
        self.values = {each.name: each.value for each in self.facets}
        # Phrase → its facet and value, for phrases that mean one thing.
        meanings: dict[tuple[str, ...], set[tuple[str, str]]] = {}
        for name, said in SAID.items():
            for phrase, value in said.items():
                if self._is_known(name, value):
                    meanings.setdefault(said_words(phrase), set()).add((name, value))
        for name in ("op", "dtype", "backend", "arch"):
            for value in (self.known or {}).get(name, ()):
                exact = tuple(words_of(value))
                if 0 < len(exact) <= LONGEST_PHRASE and not PLAIN.issuperset(exact):
                    meanings.setdefault(exact, {(name, value)})
        for slug in (self.known or {}).get("platform", ()):
            for run in _runs_of(slug):
                meanings.setdefault(run, set()).add(("platform", slug))
        self.meanings = {phrase: min(each) for phrase, each in meanings.items() if len(each) == 1}

    def note_named(self, found: re.Match[str]) -> str:
        """Note a facet that the text names itself, as "op:matmul"; the text that is left of it."""
        name, value = found[1], found[2]
        meant = SAID.get(name, {}).get(value.lower(), value)
        if name in self.values or not self._is_known(name, meant):
            return found[0]
        self._note(name, meant, found[0])
        return " "

    def read(self, text: str) -> list[str]:
        """The words that stay words; the others mean facets."""
        parts = words_of(PLUS_PLUS.sub("cpp", text))
        words: list[str] = []
        at = 0
        while at < len(parts):
            for length in range(min(LONGEST_PHRASE, len(parts) - at), 0, -1):
                phrase = tuple(parts[at : at + length])
                name, value = self.meanings.get(phrase, ("", ""))
                if not name or self.values.get(name, value) != value:
                    continue
                if name not in self.values:
                    self._note(name, value, " ".join(phrase))
                at += length
                break
            else:
                words.append(parts[at])
                at += 1
        return words

    def _note(self, name: str, value: str, said: str) -> None:
        self.values[name] = value
        self.facets.append(QueryFacet(name, value, said))

    def _is_known(self, name: str, value: str) -> bool:
        if self.known is None:
            return name != "kind"
        same = STANDS_FOR.get(name, {}).get(value, (value,))
        return not self.known.get(name, set()).isdisjoint(same)


def _runs_of(slug: str) -> set[tuple[str, ...]]:
    """Runs of a platform's words that can name it: those with a digit that is no memory size."""
    parts = words_of(slug)
    models = {p for p in parts if len(p) > 1 and not p.endswith("gb") and re.search(r"\d", p)}
    runs = {
        tuple(parts[first : first + length])
        for length in range(1, LONGEST_PHRASE + 1)
        for first in range(len(parts) - length + 1)
    }
    return {run for run in runs if not models.isdisjoint(run)}
