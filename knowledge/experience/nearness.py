"""PURE: which texts say nearly the same, by the words that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from knowledge.search.tokens import words_of

Item = TypeVar("Item")

NEAR = 0.5  # shared words of all words of both
COMMON = {
    *("a", "an", "and", "are", "as", "at", "be", "by", "do", "does", "for", "from", "has", "have"),
    *("how", "if", "in", "is", "it", "of", "on", "or", "not", "than", "that", "the", "this", "to"),
    *("was", "what", "when", "where", "which", "with"),
}


def nearness(first: str, second: str) -> float:
    """The share of words that both have, of the words of either; 1.0 is the same words."""
    one, other = set(words_of(first)) - COMMON, set(words_of(second)) - COMMON
    return len(one & other) / len(one | other) if one | other else 0.0


def nearest(
    text: str, items: Iterable[Item], text_of: Callable[[Item], str], most: int
) -> list[Item]:
    """The items whose text is near this one, the nearest first."""
    ranked = sorted(((nearness(text, text_of(item)), item) for item in items), key=_share)
    return [item for share, item in ranked[:most] if share >= NEAR]


def _share(pair: tuple[float, object]) -> float:
    return -pair[0]
