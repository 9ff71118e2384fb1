"""Two versions of a source → rows of a unified or split diff, folded to some lines of context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from campaigns.reports.highlight import highlighted, source_lines


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
    """One line of a unified diff; `old` and `new` are line numbers, a gap says what it hides."""

    mark: Mark
    old: int | None = None
    new: int | None = None
    html: str = ""
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class SplitRow:
    """The same with both versions side by side; a side is None where it has no line."""

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
        """The rows side by side: removed lines stand beside the lines that replaced them."""
        return tuple(_split(self.rows))


def diff(old: str, new: str, file_name: str, *, context: int = 3, space: bool = True) -> Diff:
    """Compare two sources line by line; without `space`, blanks make no difference."""
    before, after = highlighted(old, file_name), highlighted(new, file_name)
    keys, others = _keys(old, space=space), _keys(new, space=space)
    matcher = SequenceMatcher(None, keys, others, autojunk=False)
    rows: list[DiffRow] = []
    seen = 0
    for group in matcher.get_grouped_opcodes(context):
        if hidden := group[0][1] - seen:
            rows.append(DiffRow(Mark.GAP, hidden=hidden))
        for opcode in group:
            rows.extend(_rows(opcode, before, after))
        seen = group[-1][2]
    if rows and (hidden := len(before) - seen):
        rows.append(DiffRow(Mark.GAP, hidden=hidden))
    return Diff(
        rows=tuple(rows),
        added=sum(row.mark is Mark.ADDED for row in rows),
        removed=sum(row.mark is Mark.REMOVED for row in rows),
    )


def _keys(text: str, *, space: bool) -> list[str]:
    lines = source_lines(text)
    return lines if space else ["".join(line.split()) for line in lines]


def _rows(
    opcode: tuple[str, int, int, int, int], before: Sequence[str], after: Sequence[str]
) -> Iterator[DiffRow]:
    tag, i1, i2, j1, j2 = opcode
    if tag == "equal":
        for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
            yield DiffRow(Mark.SAME, i + 1, j + 1, after[j])
        return
    for i in range(i1, i2):
        yield DiffRow(Mark.REMOVED, old=i + 1, html=before[i])
    for j in range(j1, j2):
        yield DiffRow(Mark.ADDED, new=j + 1, html=after[j])


def _split(rows: Sequence[DiffRow]) -> Iterator[SplitRow]:
    removed: list[DiffRow] = []
    added: list[DiffRow] = []
    for row in (*rows, None):
        if row is not None and row.mark is Mark.REMOVED:
            removed.append(row)
        elif row is not None and row.mark is Mark.ADDED:
            added.append(row)
        else:
            for place in range(max(len(removed), len(added))):
                left = removed[place] if place < len(removed) else None
                yield SplitRow(left, added[place] if place < len(added) else None)
            removed, added = [], []
            if row is not None:
                yield SplitRow(row, row, row.hidden)
