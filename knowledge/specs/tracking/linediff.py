"""Two texts → rows of a unified diff, folded to some lines of context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from knowledge.specs.citation import split_lines

CONTEXT = 3  # equal lines shown around a change


class DiffMark(StrEnum):
    """What a row is: the class in the page, and the sign that is printed."""

    SAME = "same"
    ADDED = "add"
    REMOVED = "del"
    GAP = "gap"

    @property
    def sign(self) -> str:
        return {"add": "+", "del": "−"}.get(self.value, "")


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One line as a page shows it (plain text, or HTML marked safe), with its numbers.

    old, new: its numbers in the two texts, from 1. A gap says how many lines it hides.
    """

    mark: DiffMark
    old: int | None = None
    new: int | None = None
    html: str = ""
    hidden: int = 0


def diff_lines(old: str, new: str) -> tuple[DiffRow, ...]:
    """Compare line by line, as citations count lines. Empty where no line differs."""
    before, after = split_lines(old), split_lines(new)
    # Junk on: a text of many blank lines would otherwise take minutes.
    return tuple(unified(SequenceMatcher(None, before, after), before, after, CONTEXT))


def unified(
    matcher: SequenceMatcher[str], before: Sequence[str], after: Sequence[str], context: int
) -> Iterator[DiffRow]:
    """The rows for what the matcher found; `before` and `after` are the lines to be shown."""
    seen = None
    for group in matcher.get_grouped_opcodes(context):
        if hidden := group[0][1] - (seen or 0):
            yield DiffRow(DiffMark.GAP, hidden=hidden)
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                    yield DiffRow(DiffMark.SAME, i + 1, j + 1, after[j])
                continue
            for i in range(i1, i2):
                yield DiffRow(DiffMark.REMOVED, old=i + 1, html=before[i])
            for j in range(j1, j2):
                yield DiffRow(DiffMark.ADDED, new=j + 1, html=after[j])
        seen = group[-1][2]
    if seen is not None and (hidden := len(before) - seen):
        yield DiffRow(DiffMark.GAP, hidden=hidden)
