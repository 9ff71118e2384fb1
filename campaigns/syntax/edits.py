"""Lossless edits: replace parts of a text and leave every other byte alone."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from string import Template

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


HOLE = re.compile(r"\\\$(\w+)")


def sketched(text: str, sketch: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
    """The text with each block of lines replaced, and what each `$name` of the sketch is there.

    sketch: blocks as they are and as they become, in the order in which they stand in the text,
    whatever stands between them. `$name` is one word, the same one wherever it stands. Both results
    are empty where the blocks do not all stand in the text just once.
    """
    known: set[str] = set()

    def word(found: re.Match[str]) -> str:
        name = found[1]
        seen = name in known
        known.add(name)
        return rf"\b(?P={name})\b" if seen else rf"\b(?P<{name}>\w+)\b"

    blocks = []
    for number, block in enumerate(sketch):
        lines = [HOLE.sub(word, re.escape(line)) for line in block.split("\n")]
        inner = f"\n(?P=in_{number})".join(lines)
        blocks.append(f"(?P<block_{number}>^(?P<in_{number}> *){inner}$)")
    found = list(re.finditer(r"\n(?:.*\n)*?".join(blocks), text, re.MULTILINE))
    if len(found) != 1:
        return "", {}
    words = {name: found[0][name] for name in known}
    for number, become in reversed([*enumerate(sketch.values())]):
        start, end = found[0].span(f"block_{number}")
        new = Template(become).substitute(words)
        text = text[:start] + textwrap.indent(new, found[0][f"in_{number}"]) + text[end:]
    return text, words
