"""PURE: which rows are asked for, as a tree over index words that both databases understand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Holds:
    """Rows that hold this index word."""

    word: str


@dataclass(frozen=True, slots=True)
class AllOf:
    """Rows that every part asks for."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Rows that one of the parts asks for."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ButNot:
    """Rows that the first asks for and the second does not."""

    wanted: Expression
    unwanted: Expression


Expression = Holds | AllOf | AnyOf | ButNot


def holds_any(words: Iterable[str]) -> Expression:
    """Rows that hold one of these words, of which there is at least one."""
    listed = tuple(Holds(word) for word in dict.fromkeys(words))
    return listed[0] if len(listed) == 1 else AnyOf(listed)


def all_of(parts: Iterable[Expression]) -> Expression:
    """Rows that every one of these asks for; there is at least one."""
    listed = tuple(parts)
    return listed[0] if len(listed) == 1 else AllOf(listed)
