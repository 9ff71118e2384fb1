"""PURE: the tables of a Markdown document, each cell with its line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

FENCE = re.compile(r"\s*(```|~~~)")
BAR = re.compile(r"(?<!\\)\|")
LINK = re.compile(r"\[([^\]]+)\]\([^)\s]+\)")
APPLIES = "Applies to: "


@dataclass(slots=True)
class GuideTable:
    """Cells of the header in lower case, and (line, cells) of the rows; lines count from 1.

    applies: the words of the last line above it that begins with "Applies to:".
    """

    line: int
    header: list[str]
    applies: str = ""
    applies_line: int = 0
    rows: list[tuple[int, list[str]]] = field(default_factory=list)


def guide_tables(text: str) -> Iterator[GuideTable]:
    """The tables in their order; what stands in a fence is none."""
    table, fenced, applies, said = None, False, "", 0
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if FENCE.match(line):
            fenced = not fenced
        if not fenced and line.startswith("|"):
            if table is None:
                table = GuideTable(number, [c.lower() for c in _cells(line)], applies, said)
            elif number > table.line + 1:  # below the line of dashes
                table.rows.append((number, _cells(line)))
            continue
        if table is not None:
            yield table
            table = None
        if not fenced and line.startswith(APPLIES):
            applies, said = line.removeprefix(APPLIES).strip(), number


def plain(cell: str) -> str:
    """A cell without the marks of links and code; "" for a dash."""
    text = LINK.sub(r"\1", cell).replace("`", "").replace("\\|", "|").strip()
    return "" if text in ("–", "-", "—") else text


def codes(cell: str) -> list[str]:
    """What stands in backticks, in its order."""
    return re.findall(r"`([^`]+)`", cell)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in BAR.split(line.strip().strip("|"))]
