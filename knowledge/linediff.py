"""Two texts of a document → rows of a unified diff, folded to some lines of context."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from knowledge.specs.citation import split_lines

CONTEXT = 3  # equal lines shown around a change


class Mark(StrEnum):
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
    """One line: its numbers in the old and the new text. A gap says how many lines it hides."""

    mark: Mark
    old: int | None = None
    new: int | None = None
    text: str = ""
    hidden: int = 0


def diff_lines(old: str, new: str) -> tuple[DiffRow, ...]:
    """Compare line by line, as citations count lines. Empty where no line differs."""
    before, after = split_lines(old), split_lines(new)
    # Junk on: a text of many blank lines would otherwise take minutes.
    matcher = SequenceMatcher(None, before, after)
    return tuple(_rows(matcher, before, after))


def _rows(matcher: SequenceMatcher[str], before: list[str], after: list[str]) -> Iterator[DiffRow]:
    seen = 0
    for group in matcher.get_grouped_opcodes(CONTEXT):
        if hidden := group[0][1] - seen:
            yield DiffRow(Mark.GAP, hidden=hidden)
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                    yield DiffRow(Mark.SAME, i + 1, j + 1, after[j])
                continue
            for i in range(i1, i2):
                yield DiffRow(Mark.REMOVED, old=i + 1, text=before[i])
            for j in range(j1, j2):
                yield DiffRow(Mark.ADDED, new=j + 1, text=after[j])
        seen = group[-1][2]
    if seen and (hidden := len(before) - seen):
        yield DiffRow(Mark.GAP, hidden=hidden)
