"""PURE: text as the words that both databases index and that a query is compared with."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

WORD = re.compile(r"[^\W_]+")
LONGEST_WORD = 60  # characters
PLACE = ("backend", "op", "platform")  # facets that are asked for together
MOST_WORDS = 20_000  # distinct words of one row; the longest shipped document has 2,000


def words_of(text: str) -> list[str]:
    """The words of a text in order: lower case, without accents, parted at every other sign.

    "triton.grouped_order" is three words; "BLOCK_M" is two; "2^20" is two.
    """
    if text.isascii():
        plain = text.lower()
    else:
        plain = unicodedata.normalize("NFKD", text).casefold()
        plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return [word[:LONGEST_WORD] for word in WORD.findall(plain)]


@lru_cache(maxsize=10_000)
def facet_word(name: str, value: str) -> str:
    """The word that stands for a facet in an index: "op=matmul". No text can contain it."""
    return f"{name}={'-'.join(words_of(value))}"


def place_word(facets: Mapping[str, str]) -> str:
    """The word that stands for two or three facets of `PLACE` together: "in=triton_matmul_".

    Many rows have each of them, few all of them. "" for fewer facets, or where it is too long.
    """
    values = ["-".join(words_of(facets.get(name, ""))) for name in PLACE]
    word = f"in={'_'.join(values)}"
    return word if sum(map(bool, values)) > 1 and len(word) <= LONGEST_WORD else ""


def place_words(facets: Mapping[str, str]) -> list[str]:
    """All such words of a row with these facets."""
    held = {name: facets[name] for name in PLACE if facets.get(name)}
    found = {place_word({k: v for k, v in held.items() if k != name}) for name in PLACE}
    return sorted((found | {place_word(held)}) - {""})


def index_words(texts: Iterable[str], facets: Mapping[str, str]) -> str:
    """The distinct words of a row with its facets, a space between each two."""
    found = dict.fromkeys(word for text in texts for word in words_of(text))
    marked = [facet_word(name, value) for name, value in facets.items() if value]
    return " ".join([*marked, *list(found)[:MOST_WORDS]])
