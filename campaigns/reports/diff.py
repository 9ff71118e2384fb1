"""Two versions of a source → rows of a unified or split diff, folded to some lines of context."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from html import escape
from itertools import zip_longest

from django.utils.safestring import SafeString, mark_safe
from pygments.lexer import Lexer
from pygments.lexers import CppLexer, CudaLexer, PythonLexer
from pygments.lexers.special import TextLexer
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    String,
    _TokenType,
    is_token_subtype,
)

from knowledge.specs.tracking.linediff import DiffMark, DiffRow, unified

LEXERS: dict[str, type[Lexer]] = {
    ".py": PythonLexer,
    ".cpp": CppLexer,
    ".cu": CudaLexer,
    ".hip": CudaLexer,
}
# Of this thread's own processor time. Honest files take hundredths of a second. There are short
# ones, of empty lines or slashes alone, for which a lexer takes minutes.
MOST_S = 1.0
# Most specific first: a token takes the first class whose type contains it.
CLASSES = (
    (Comment.Preproc, "p"),
    (Comment.PreprocFile, "s"),
    (Comment, "c"),
    (Keyword.Type, "t"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (Name.Function, "n"),
    (Name.Decorator, "n"),
    (Name.Class, "t"),
    (String, "s"),
    (Number, "m"),
)


def source_lines(text: str) -> list[str]:
    """Split a source as the lexers do: any line end counts, a final one opens no new line."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return plain.removesuffix("\n").split("\n") if plain else []


def highlighted(text: str, file_name: str) -> list[SafeString]:
    """Colour a source file; as many lines come back as `source_lines` has.

    One that takes too long stays without colours.
    """
    try:
        return list(_coloured(text, file_name))
    except _TooSlowError:
        return [mark_safe(escape(line)) for line in source_lines(text)]


class _TooSlowError(Exception):
    """Colouring took longer than MOST_S."""


@lru_cache(maxsize=64)
def _coloured(text: str, file_name: str) -> tuple[SafeString, ...]:
    """Kept for the pages that show the same source again. Raises _TooSlowError."""
    end = time.thread_time() + MOST_S
    suffix = "." + file_name.rpartition(".")[2]
    lexer = LEXERS.get(suffix, TextLexer)(stripnl=False, ensurenl=False)
    lines: list[list[str]] = [[]]
    for token, value in lexer.get_tokens("\n".join(source_lines(text))):
        if time.thread_time() > end:
            raise _TooSlowError
        for number, piece in enumerate(value.split("\n")):
            if number:
                lines.append([])
            if piece:
                lines[-1].append(_span(token, piece))
    # Every piece went through html.escape in _span, so the join is safe.
    return tuple(mark_safe("".join(line)) for line in lines) if text else ()


def _span(token: _TokenType, piece: str) -> str:
    name = next((css for kind, css in CLASSES if is_token_subtype(token, kind)), "")
    text = escape(piece)
    return f'<span class="tok-{name}">{text}</span>' if name else text


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
        found: list[SplitRow] = []
        removed: list[DiffRow] = []
        added: list[DiffRow] = []
        for row in (*self.rows, None):
            if row is not None and row.mark is DiffMark.REMOVED:
                removed.append(row)
            elif row is not None and row.mark is DiffMark.ADDED:
                added.append(row)
            else:
                found += (SplitRow(*sides) for sides in zip_longest(removed, added))
                removed, added = [], []
                if row is not None:
                    found.append(SplitRow(row, row, row.hidden))
        return tuple(found)


def diff(old: str, new: str, file_name: str, *, context: int = 3, space: bool = True) -> Diff:
    """Compare two sources line by line; without `space`, blanks make no difference."""
    before, after = highlighted(old, file_name), highlighted(new, file_name)
    keys, others = source_lines(old), source_lines(new)
    if not space:
        keys, others = (["".join(line.split()) for line in lines] for lines in (keys, others))
    there = Counter(others)
    pairs = sum(count * there[key] for key, count in Counter(keys).items())
    matcher = SequenceMatcher(None, keys, others, autojunk=pairs > MOST_PAIRS)
    rows = tuple(unified(matcher, before, after, context))
    return Diff(
        rows=rows,
        added=sum(row.mark is DiffMark.ADDED for row in rows),
        removed=sum(row.mark is DiffMark.REMOVED for row in rows),
    )
