"""The source beside a form: numbered lines of one text, of which a first and a last are picked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from knowledge.models import Document, Revision
from knowledge.specs.citation import quoted, split_lines

WINDOW = 300  # lines shown at once
MOST_DIGITS = 9
MOST_DOCUMENTS = 500  # paths offered while typing


@dataclass(frozen=True, slots=True)
class Pane:
    """One window of a text. first, last: the picked lines, None while there are none."""

    revision: Revision
    newest: bool
    lines: list[tuple[int, str]]
    count: int
    first: int | None
    last: int | None

    @property
    def quote(self) -> str | None:
        """The text of the picked lines, None where none are or the text is shorter."""
        if self.first is None or self.last is None:
            return None
        return quoted(self.revision.text, self.first, self.last)

    @property
    def locator(self) -> str:
        return f"L{self.first}" if self.first == self.last else f"L{self.first}-L{self.last}"

    @property
    def earlier(self) -> int | None:
        """Where the window before this one starts."""
        start = self.lines[0][0] if self.lines else 1
        return max(1, start - WINDOW) if start > 1 else None

    @property
    def later(self) -> int | None:
        end = self.lines[-1][0] if self.lines else self.count
        return end + 1 if end < self.count else None

    @property
    def first_hidden(self) -> bool:
        """Whether the picked first line lies outside of this window."""
        return self.first is not None and self.first not in dict(self.lines)

    @property
    def last_hidden(self) -> bool:
        return self.last is not None and self.last not in dict(self.lines)


def pane_for(asked: Mapping[str, Any]) -> Pane | None:
    """The source that the address or the form asks for; None where it names no document.

    `rev` is the text that lines were picked in; picks in another text are dropped.
    """
    document = Document.objects.filter(path=_text(asked, "doc")).first()
    if document is None:
        return None
    newest = document.latest
    rev = _text(asked, "rev")
    shown = document.revisions.filter(sha256__startswith=rev) if rev else None
    revision = shown.order_by("-number").first() if shown is not None else newest
    first, last = number(asked.get("first")), number(asked.get("last"))
    if revision is None:
        revision, first, last = newest, None, None
    texts = split_lines(revision.text)
    first, last = (first or last), (last or first)
    start = _start(number(asked.get("from")), first, len(texts))
    window = list(enumerate(texts[start - 1 : start - 1 + WINDOW], start=start))
    return Pane(revision, revision.number == newest.number, window, len(texts), first, last)


def number(text: Any) -> int | None:
    """The number from 1 that a parameter holds, None for anything else."""
    word = str(text or "")
    if not (word.isascii() and word.isdigit() and len(word) <= MOST_DIGITS):
        return None
    return int(word) or None


def document_paths() -> list[str]:
    """Paths to choose from."""
    return list(Document.objects.values_list("path", flat=True)[:MOST_DOCUMENTS])


def _text(asked: Mapping[str, Any], name: str) -> str:
    # PostgreSQL refuses NUL in any text.
    return str(asked.get(name) or "").replace("\0", "").strip()


def _start(asked: int | None, first: int | None, count: int) -> int:
    if asked is not None:
        return max(1, min(asked, count))
    if first is None or first > count or first <= WINDOW:
        return 1
    return max(1, first - WINDOW // 2)
