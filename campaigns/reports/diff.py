"""Two versions of a source → rows of a unified or split diff, folded to some lines of context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from campaigns.reports.highlight import highlighted, source_lines
from knowledge.specs.tracking.linediff import DiffMark, DiffRow, unified

# Pairs of equal lines up to which lines that occur often are matched like any other. Beyond it, as
# in two files of empty lines, that takes minutes.
MOST_PAIRS = 1_000_000

__all__ = ["Diff", "DiffMark", "DiffRow", "SplitRow", "diff"]


@dataclass(frozen=True, slots=True)
class SplitRow:
    """Both versions of a row side by side; a side is None where it has no line."""

    left: DiffRow | None
    right: DiffRow | None
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class Diff:
    """All rows of a diff, and how many lines it adds and removes."""

    rows: tuple[DiffRow, ...]
    added: int
    removed: int

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.removed)

    @property
    def split(self) -> tuple[SplitRow, ...]:
        """The rows side by side: a removed line is beside the line that replaced it."""
        return tuple(_split(self.rows))


def diff(old: str, new: str, file_name: str, *, context: int = 3, space: bool = True) -> Diff:
    """Compare two sources line by line; without `space`, blanks make no difference."""
    before, after = highlighted(old, file_name), highlighted(new, file_name)
    keys, others = _keys(old, space=space), _keys(new, space=space)
    matcher = SequenceMatcher(None, keys, others, autojunk=_pairs(keys, others) > MOST_PAIRS)
    rows = tuple(unified(matcher, before, after, context))
    return Diff(
        rows=rows,
        added=sum(row.mark is DiffMark.ADDED for row in rows),
        removed=sum(row.mark is DiffMark.REMOVED for row in rows),
    )


def _keys(text: str, *, space: bool) -> list[str]:
    lines = source_lines(text)
    return lines if space else ["".join(line.split()) for line in lines]


def _pairs(keys: Sequence[str], others: Sequence[str]) -> int:
    there = Counter(others)
    return sum(count * there[key] for key, count in Counter(keys).items())


def _split(rows: Sequence[DiffRow]) -> Iterator[SplitRow]:
    removed: list[DiffRow] = []
    added: list[DiffRow] = []
    for row in (*rows, None):
        if row is not None and row.mark is DiffMark.REMOVED:
            removed.append(row)
        elif row is not None and row.mark is DiffMark.ADDED:
            added.append(row)
        else:
            for place in range(max(len(removed), len(added))):
                left = removed[place] if place < len(removed) else None
                yield SplitRow(left, added[place] if place < len(added) else None)
            removed, added = [], []
            if row is not None:
                yield SplitRow(row, row, row.hidden)
