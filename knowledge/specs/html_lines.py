"""HTML in the lines of a Markdown document: comments, headings and the head rows of tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

HEADING = re.compile(r" {0,3}<h([1-6])\b[^>]*>(.*)</h\1>", re.IGNORECASE)
TABLE = re.compile(r"\s*<table\b", re.IGNORECASE)
CELL = re.compile(r"</?(?:table|tr|th|td)\b", re.IGNORECASE)
TAG = re.compile(r"</?[A-Za-z][^<>]*>")
CODE = re.compile(r"`[^`]*`")


def words_of(line: str) -> str:
    """What the line says without its tags."""
    return " ".join(TAG.sub(" ", line).split())


class Comments:
    """Which lines nobody sees, because a comment is around them. Ask for each line in turn."""

    def __init__(self, lines: Sequence[str]) -> None:
        ends = (n for n in range(len(lines) - 1, -1, -1) if "-->" in lines[n])
        self._last_end = next(ends, -1)
        self._open = False

    def hide(self, number: int, line: str) -> bool:
        """Whether a comment is all that the line has, or all of it is in one."""
        if not self._open and "<!--" not in line:
            return False
        if not self._open:
            line = CODE.sub("", line)
        at, shown = 0, False
        while at < len(line):
            if self._open:
                end = line.find("-->", at)
                if end < 0:
                    break
                self._open, at = False, end + 3
                continue
            start = line.find("<!--", at)
            before = line[at : start if start >= 0 else len(line)].strip()
            shown = shown or bool(before)
            # In a sentence it is one only if it ends.
            if start < 0 or (shown and number >= self._last_end and "-->" not in line[start:]):
                return not shown
            self._open, at = True, start + 4
        return not shown


@dataclass(slots=True)
class HtmlTable:
    """The head cells of an HTML table so far: of its columns, and of the row that is open."""

    columns: tuple[int, ...] = ()
    row: tuple[int, ...] = ()
    has_values: bool = False
    ended: bool = False

    def take(self, number: int, line: str) -> bool:
        """Read one line; whether it holds head cells and nothing else."""
        tags = {found.lower() for found in CELL.findall(line)}
        self.ended = "</table" in tags
        if "<tr" in tags:
            self.row = ()
        is_head = "<th" in tags and "<td" not in tags
        self.has_values = self.has_values or "<td" in tags
        if is_head and self.has_values:
            self.row = (*self.row, number)
        elif is_head:
            self.columns = (*self.columns, number)
        return is_head
