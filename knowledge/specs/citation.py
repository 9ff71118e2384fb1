"""The citation line, `memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/hardware/h200-sxm.md:L23`.

It is read and written exactly, and checked against the text that it points into.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from knowledge.specs.cited import is_known

WIKI = "<gpu-wiki>/"
MAX_PATH = 200  # characters; the column of a document's path
LONGEST_ORIGIN = 80  # characters; the column of a document's origin

LINE = re.compile(
    r"(?P<metric>[a-z][a-z0-9_]*): (?P<shown>\S+(?: \S+)*)"
    r" <- <gpu-wiki>/(?P<path>[A-Za-z0-9._/-]+)"
    r":L(?P<first>[1-9]\d{0,8})(?:-L(?P<last>[1-9]\d{0,8}))?",
    re.ASCII,
)
SHAPE = "metric: value unit <- <gpu-wiki>/path.md:L23 (or L23-L25)"
PATH = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*\.md")


class CitationError(ValueError):
    """A citation line or document path that cannot be read; the message says what is accepted."""


class CitationState(StrEnum):
    """What became of a citation's lines. `resolve` knows only ok, changed and lost."""

    OK = "ok"
    MOVED = "moved"
    CHANGED = "changed"
    LOST = "lost"
    SOURCE_MISSING = "source_missing"

    @property
    def holds(self) -> bool:
        """Whether the cited text still stands, where it stood or on other lines."""
        return self in (CitationState.OK, CitationState.MOVED)


def split_lines(text: str) -> list[str]:
    """The lines that L1, L2, … count. Only line feeds end a line, here and on every page."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines[:-1] if lines[-1] == "" else lines


def check_path(path: str) -> str:
    """`path` itself if it is a Markdown path inside the wiki, else CitationError."""
    if not PATH.fullmatch(path):
        raise CitationError(
            f"document path '{path}': accepted are relative .md paths without hidden or '..' parts"
        )
    return path


@dataclass(frozen=True, slots=True)
class CitationLine:
    """One parsed citation. `shown` is value and unit as written; lines count from 1, inclusive."""

    metric: str
    shown: str
    path: str
    first_line: int
    last_line: int

    def __post_init__(self) -> None:
        check_path(self.path)
        if not 1 <= self.first_line <= self.last_line:
            raise CitationError(
                f"lines L{self.first_line}-L{self.last_line}: the first must be at least 1 "
                "and not after the last"
            )

    def __str__(self) -> str:
        return f"{self.metric}: {self.shown} <- {WIKI}{self.path}:{self.locator}"

    @property
    def locator(self) -> str:
        """`L23` for one line, `L23-L25` for several."""
        first = f"L{self.first_line}"
        return first if self.first_line == self.last_line else f"{first}-L{self.last_line}"

    @property
    def known(self) -> bool:
        """Whether it cites a value; of UNKNOWN and NONE the lines are those that were searched."""
        return is_known(self.shown)

    def proven_by(self, quote: str) -> bool:
        """Whether the quote holds the value. UNKNOWN and NONE are for a person to judge."""
        return not self.known or contains(quote, self.shown)


def parse_citation(text: str) -> CitationLine:
    """Read one citation line; `str()` of the result is the same text. Else CitationError."""
    found = LINE.fullmatch(text)
    if found is None:
        raise CitationError(f"citation '{text}' does not read as {SHAPE}")
    first = int(found["first"])
    last = int(found["last"] or first)
    if found["last"] and last == first:
        raise CitationError(f"citation '{text}': one line is written :L{first}")
    return CitationLine(found["metric"], found["shown"], found["path"], first, last)


def quoted(text: str, first_line: int, last_line: int) -> str | None:
    """The lines first to last of `text`, joined, or None where the text is shorter."""
    lines = split_lines(text)
    if not 1 <= first_line <= last_line <= len(lines):
        return None
    return "\n".join(lines[first_line - 1 : last_line])


def contains(quote: str, shown: str) -> bool:
    """Whether the quote holds the value as a whole word: 4.8 stands neither in 14.8 nor in 4.85.

    Of "4.8 TB/s" only the number is looked for, so that a table may keep its unit in the head. It
    may also stand as "4.8TB/s", and 65536 as "65,536"; 65 and 536 do not stand there. A name such
    as "PCIe Gen5 x16" is looked for as a whole.
    """
    return places_of(shown).search(quote) is not None


@lru_cache(maxsize=4096)
def places_of(shown: str) -> re.Pattern[str]:
    """The pattern of the places in a text that hold a value; see `contains`."""
    number, _, unit = shown.partition(" ")
    if not number.lstrip("-")[:1].isdigit():
        words = r"\s+".join(map(re.escape, shown.split()))
        return re.compile(rf"(?<![\w.]){words}(?!\w|\.\d)")
    whole, point, rest = number.partition(".")
    spellings = [number]
    if whole.isdigit() and len(whole) > 3:
        spellings.append(f"{int(whole):,}{point}{rest}")
    either = "|".join(map(re.escape, spellings))
    glued = rf"{re.escape(unit)}(?!\w)|" if unit else ""
    return re.compile(rf"(?<![\w.])(?<!\d,)(?:{either})(?:{glued}(?!\w|[.,]\d))")


def resolve(citation: CitationLine, quote: str, text: str | None) -> CitationState:
    """Compare a citation and the quote it was made from with a document's text now.

    `text` is None when the document is gone. A quote without its number counts as changed: such a
    citation proves nothing, whatever the document says. One of UNKNOWN or NONE needs no number.
    """
    now = None if text is None else quoted(text, citation.first_line, citation.last_line)
    if now is None:
        return CitationState.LOST
    if now != quote or not citation.proven_by(quote):
        return CitationState.CHANGED
    return CitationState.OK
