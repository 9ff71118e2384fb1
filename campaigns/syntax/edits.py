"""Lossless edits: replace parts of a text and leave every other byte alone."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
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
# In so many places a block is looked for. Of a text with more, nobody knows in time how often the
# sketch stands in it.
MOST_PLACES = 500


def sketched(text: str, sketch: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
    """The text with each block of lines replaced, and what each `$name` of the sketch is there.

    sketch: blocks as they are and as they become, in the order in which they stand in the text,
    whatever stands between them. `$name` is one word, the same one wherever it stands. Both results
    are empty where the blocks do not all stand in the text just once.
    """
    left = iter(range(MOST_PLACES))
    found = list(islice(_places(text, tuple(sketch), 0, {}, left), 2))
    if len(found) != 1 or next(left, None) is None:
        return "", {}
    places, words = found[0]
    for place, become in reversed([*zip(places, sketch.values(), strict=True)]):
        new = textwrap.indent(Template(become).substitute(words), place[INDENT])
        text = text[: place.start()] + new + text[place.end() :]
    return text, words


INDENT = "the_indent"
Placed = tuple[tuple[re.Match[str], ...], dict[str, str]]


def _places(
    text: str, blocks: tuple[str, ...], start: int, words: dict[str, str], left: Iterator[int]
) -> Iterator[Placed]:
    """Each way in which blocks stand in the text from `start` on, with the words of their holes."""
    if not blocks:
        yield (), words
        return
    for place in _pattern(blocks[0], words).finditer(text, start):
        if next(left, None) is None:
            return
        known = words | {name: word for name, word in place.groupdict().items() if name != INDENT}
        for others, all_words in _places(text, blocks[1:], place.end(), known, left):
            yield (place, *others), all_words


def _pattern(block: str, words: Mapping[str, str]) -> re.Pattern[str]:
    """What finds the lines of a block, with these words in holes that are known already."""
    seen = set[str]()

    def word(hole: re.Match[str]) -> str:
        name = hole[1]
        if name in words:
            return rf"\b{re.escape(words[name])}\b"
        if name in seen:
            return rf"\b(?P={name})\b"
        seen.add(name)
        return rf"\b(?P<{name}>\w+)\b"

    lines = [HOLE.sub(word, re.escape(line)) for line in block.split("\n")]
    inner = f"\n(?P={INDENT})".join(lines)
    return re.compile(f"^(?P<{INDENT}> *){inner}$", re.MULTILINE)
