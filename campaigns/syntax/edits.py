"""Lossless edits: replace byte ranges of a text and leave every other byte alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from campaigns.evaluator.contract import Source


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace bytes [start, end) of the UTF-8 text; start == end inserts."""

    start: int
    end: int
    text: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Apply edits that do not overlap; of two insertions at one place the first comes first."""
    raw, done = text.encode(), 0
    pieces: list[bytes] = []
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if edit.start < done:
            raise ValueError(f"edit at byte {edit.start} overlaps the one that ends at {done}")
        pieces += [raw[done : edit.start], edit.text.encode()]
        done = edit.end
    return b"".join([*pieces, raw[done:]]).decode()


def replaced(text: str, old: str, new: str) -> Edit:
    """The edit that replaces the first `old` in `text`. Raises ValueError when there is none."""
    start = len(text[: text.index(old)].encode())
    return Edit(start, start + len(old.encode()), new)


def edited(source: Source, edits: Iterable[Edit], *, flags: Iterable[str] = ()) -> Source:
    """The source after the edits, with those flags added that it does not have yet."""
    added = tuple(flag for flag in flags if flag not in source.flags)
    text = apply_edits(source.text, edits)
    return Source(name=source.name, text=text, flags=source.flags + added)
