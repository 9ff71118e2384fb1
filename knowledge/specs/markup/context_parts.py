"""The parts of what gives a line its meaning, and what a note says of one that changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

EMPHASIS = re.compile(r"(\*{1,3})(?=\S)(.{1,200}?)(?<=\S)\1")
UNDERSCORES = re.compile(r"(?<!\w)(_{1,3})(?=\S)(.{1,200}?)(?<=\S)\1(?!\w)")
MOST_SHOWN = 120  # characters of a changed line in a note
SHOWN_BEFORE = 40  # of those, before the first that differs


class ContextPart(StrEnum):
    """One part of a context, as a note names it."""

    TITLE = "title"
    HEADING = "heading above"
    LEAD = "lead-in"
    HEAD = "head row of the table"
    GROUP = "group row of the table"
    SENTENCE = "beginning of the sentence"
    NOTE = "note that it refers to"
    KEYS = "path of keys in the JSON"
    FIELD = "JSON field around it"


def plain(text: str) -> str:
    """The words as they are compared: without case, emphasis and blanks that say nothing."""
    bare = UNDERSCORES.sub(r"\2", EMPHASIS.sub(r"\2", text))
    return " ".join(bare.split()).casefold()


def change(part: ContextPart, before: Sequence[str], now: Sequence[str]) -> str:
    """What became of one part of a context, from what to what; "" where it reads as it did."""
    old, new = list(before), list(now)
    # A unit in a JSON field means another one in other letters: GB and Gb.
    words = str if part is ContextPart.FIELD else plain
    while old and new and words(old[0]) == words(new[0]):
        old, new = old[1:], new[1:]
    while old and new and words(old[-1]) == words(new[-1]):
        old, new = old[:-1], new[:-1]
    was, reads = _differing(" > ".join(old), " > ".join(new))
    if old and new:
        return f"the {part} was '{was}' and is '{reads}'"
    if old:
        return f"the {part} is gone: '{was}'"
    return f"the {part} is new: '{reads}'" if new else ""


def _differing(was: str, reads: str) -> tuple[str, str]:
    """Both texts; of long ones the piece around where they begin to differ."""
    pairs = enumerate(zip(was, reads, strict=False))
    alike = next((n for n, (one, other) in pairs if one != other), min(len(was), len(reads)))
    short = max(len(was), len(reads)) <= MOST_SHOWN
    start = 0 if short else max(0, alike - SHOWN_BEFORE)
    return _clipped(was, start), _clipped(reads, start)


def _clipped(text: str, start: int) -> str:
    """At most MOST_SHOWN characters from `start`."""
    end = start + MOST_SHOWN
    return ("…" if start else "") + text[start:end] + ("…" if text[end:] else "")
