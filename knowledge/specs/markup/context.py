"""What gives a line of Markdown its meaning: the headings, lead-in lines and head rows above it.

A fence hides headings and lists; a table in it is still read as one. An item of a list is above
what is nested in it. A lead-in ends with a colon right before a list, a table or a code block. A
bold line alone is a heading, and a row with one filled cell is above the rows that follow it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from knowledge.specs.markup import html_lines
from knowledge.specs.markup.context_parts import plain

HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
UNDERLINE = re.compile(r" {0,3}(=+|-+)")
CLOSING_HASHES = re.compile(r"[ \t]+#+$")
FENCE = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})")
ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}")
QUOTE = re.compile(r"(?: {0,3}> ?)+")
PIPE = re.compile(r"(?<!\\)\|")
COLUMN = re.compile(r":?-+:?")
BOLD = re.compile(
    r"(?:\*\*(?=\S)([^*]+)\*\*|__(?=\S)([^_]+)__|<(b|strong)>([^<]+)</\3>)", re.IGNORECASE
)
BOLD_LEVEL = 7  # a bold line stands below all headings
SENTENCE_END = re.compile(r"[.!?][*_)\"']*(?:\s+(?=[^a-z\s])|$)")
COLONS = (":", "\uff1a")  # the second is the full-width one
MOST_LINES = 20  # of a paragraph, in which its last sentence is looked for
UNITS = ("unit", "units")  # the first cell of a row that gives the units of the columns
NESTED = 2  # blanks from which a line stands inside the item above it


@dataclass(frozen=True, slots=True)
class Above:
    """The line numbers (from 0) of what stands above a line, the outermost first."""

    headings: tuple[int, ...] = ()
    leads: tuple[int, ...] = ()
    heads: tuple[int, ...] = ()
    group: tuple[int, ...] = ()

    @property
    def lines(self) -> tuple[int, ...]:
        return (*self.headings, *self.leads, *self.heads, *self.group)


@dataclass(frozen=True, slots=True)
class Outline:
    """What stands above each line, itself included where it is a heading.

    said: the words of every line that stands above others. title: the line of the first heading of
    level 1, which names what the document speaks of. lone_title: whether it is the only one.
    hidden: the lines in HTML comments. paragraphs: each line of text and where its paragraph
    begins. json: first line and end of each code block that is JSON.
    """

    above: list[Above]
    said: dict[int, str]
    title: int | None
    lone_title: bool
    hidden: set[int]
    paragraphs: dict[int, int]
    json: list[tuple[int, int]]


def cells(row: str) -> list[str]:
    """The cells of a table row, without the pipes at both ends."""
    inner = row.strip().removeprefix("|")
    found = PIPE.split(inner)
    if len(found) > 1 and not found[-1].strip():
        found.pop()
    return [cell.strip() for cell in found]


def read_outline(lines: Sequence[str]) -> Outline:
    """Read the lines of a document, without blanks at their ends, in one pass."""
    reading = _ContextReader(lines)
    for number in range(len(lines)):
        reading.take(number)
    reading.end_json(len(lines))
    tops = [number for number, level in reading.levels.items() if level == 1]
    title = min(tops, default=None)
    more = (reading.hidden, reading.paragraphs, reading.json)
    return Outline(reading.above, reading.said, title, len(tops) == 1, *more)


def sentence_of(lines: Sequence[str], first: int, end: int) -> str:
    """What these lines of a paragraph say behind the last end of a sentence in them."""
    text = " ".join(line.strip() for line in lines[max(first, end - MOST_LINES) : end])
    ends = [found.end() for found in SENTENCE_END.finditer(text)]
    return text[ends[-1] :] if ends else text


class _Kind(StrEnum):
    """What the last line that is not blank was."""

    TEXT = "text"
    ITEM = "item"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class _Item:
    """An open list item; `lead` is the lead-in of the list that it is in."""

    indent: int
    number: int
    lead: int | None


@dataclass(slots=True)
class _ContextReader:
    """The state after the lines read so far."""

    lines: Sequence[str]
    above: list[Above] = field(default_factory=list)
    said: dict[int, str] = field(default_factory=dict)
    levels: dict[int, int] = field(default_factory=dict)
    headings: tuple[int, ...] = ()
    items: list[_Item] = field(default_factory=list)
    table: Above | None = None  # what its rows have above them, while in one
    fence: str = ""
    code: Above = field(default_factory=Above)  # the same of the lines in a fence
    depth: int = 0  # of block quotes
    last: int = -1  # the last line that is not blank
    kind: _Kind = _Kind.OTHER  # what that one is
    blank: bool = True  # whether the line before is blank
    paragraph: int = 0  # where the text began that the last line belongs to
    html: html_lines.HtmlTable | None = None
    html_above: Above = field(default_factory=Above)
    hidden: set[int] = field(default_factory=set)
    paragraphs: dict[int, int] = field(default_factory=dict)
    json: list[tuple[int, int]] = field(default_factory=list)
    json_start: int | None = None
    comments: html_lines.Comments = field(init=False)

    def __post_init__(self) -> None:
        self.comments = html_lines.Comments(self.lines)

    def take(self, number: int) -> None:
        """Read one line."""
        line = self.lines[number]
        if not self.fence and self.comments.hide(number, line):
            self.hidden.add(number)
            self.above.append(Above(self.headings))
            return
        body = line if self.fence and not self.depth else self._unquoted(line)
        if not body.strip():
            self.above.append(self.code if self.fence else Above(self.headings))
            self.table, self.blank = None, True
            return
        found, kind = self._read(number, body)
        self.above.append(found)
        if kind is _Kind.TEXT and (self.blank or self.kind is not kind):
            self.paragraph = number
        if kind is _Kind.TEXT:
            self.paragraphs[number] = self.paragraph
        self.last, self.kind, self.blank = number, kind, False

    def _unquoted(self, line: str) -> str:
        """The line without its quote marks; whatever is open ends where a quotation does."""
        mark = QUOTE.match(line)
        depth = mark[0].count(">") if mark else 0
        if depth != self.depth and line:
            self.depth, self.table, self.fence, self.blank = depth, None, "", True
            self.items.clear()
        return line[mark.end() :] if mark else line

    def _read(self, number: int, body: str) -> tuple[Above, _Kind]:
        if self.fence:
            return self._in_fence(number, body), _Kind.OTHER
        fence = FENCE.match(body)
        if fence is not None:
            self.code, self.fence, self.table = self._block(body), fence[1], None
            is_json = body[fence.end() :].strip().casefold().startswith("json")
            self.json_start = number + 1 if is_json and not self.depth else None
            return self.code, _Kind.OTHER
        heading = None if self.depth else self._as_heading(number, body)
        if heading is not None:
            return self._heading(number, *heading), _Kind.OTHER
        cell = self._html(number, body)
        if cell is not None:
            return cell, _Kind.OTHER
        if self._underlines(body):
            return self._set_above(number, body), _Kind.OTHER
        row = self._row(number, body)
        if row is not None:
            return row, _Kind.OTHER
        if RULE.fullmatch(body):
            self.items.clear()
            return Above(self.headings), _Kind.OTHER
        if ITEM.match(body):
            return self._item(number, body), _Kind.ITEM
        return self._text(body), _Kind.TEXT

    def _in_fence(self, number: int, body: str) -> Above:
        bare = body.strip()
        if bare.startswith(self.fence) and not bare.strip(self.fence[0]):
            self.fence, self.table = "", None
            self.end_json(number)
            return self.code
        return self._row(number, body) or self.code

    def end_json(self, number: int) -> None:
        """A block of JSON ends before this line, if one is open."""
        if self.json_start is not None:
            self.json.append((self.json_start, number))
        self.json_start = None

    def _as_heading(self, number: int, body: str) -> tuple[int, str] | None:
        """Level and words of a line that is a heading by itself."""
        found = HEADING.fullmatch(body)
        if found is not None:
            return len(found[1]), CLOSING_HASHES.sub("", found[2])
        found = html_lines.HEADING.fullmatch(body)
        if found is not None:
            return int(found[1]), html_lines.words_of(found[2])
        found = BOLD.fullmatch(body)
        said = "" if found is None else found[1] or found[2] or found[4]
        if not said or said.endswith(COLONS) or not self._alone(number):
            return None
        return BOLD_LEVEL, said

    def _alone(self, number: int) -> bool:
        """Whether a line is no part of a text that goes on above or below."""
        under = self.lines[number + 1] if number + 1 < len(self.lines) else ""
        above = self.kind is _Kind.OTHER or self.blank
        return above and (not under or ITEM.match(under) is not None or under[0] in "|`~<")

    def _html(self, number: int, body: str) -> Above | None:
        """What a line of an HTML table has above it; None outside of one."""
        if html_lines.TABLE.match(body):
            self.html, self.html_above = html_lines.HtmlTable(), self._block(body)
        if self.html is None:
            return None
        before = (*self.html.columns, *self.html.row)
        if self.html.take(number, body):
            self.said[number] = html_lines.words_of(body)
        own = before if number in self.html.columns else (*self.html.columns, *self.html.row)
        if self.html.ended:
            self.html = None
        return replace(self.html_above, heads=own)

    def _heading(self, number: int, level: int, said: str) -> Above:
        self.items.clear()
        self.table = self.html = None
        self.levels[number], self.said[number] = level, said
        outer = (above for above in self.headings if self.levels[above] < level)
        self.headings = (*outer, number)
        return Above(self.headings)

    def _underlines(self, body: str) -> bool:
        """Whether the line makes the paragraph right above it a heading."""
        under = self.kind is _Kind.TEXT and not (self.blank or self.items or self.depth)
        return under and UNDERLINE.fullmatch(body) is not None

    def _set_above(self, number: int, body: str) -> Above:
        """The heading that an underline makes of lines which were read as text."""
        first = self.paragraph
        said = " ".join(line.strip() for line in self.lines[first:number])
        found = self._heading(first, 1 if "=" in body else 2, said)
        self.above[first:number] = [found] * (number - first)
        return found

    def _row(self, number: int, body: str) -> Above | None:
        """What a table row has above it; None for a line that is none."""
        inside = self.table if self._may_be_row(number, body) else None
        if inside is not None and inside.heads:
            return self._body_row(number, body, inside)
        if self._is_head(number, body):
            above = inside or self._start(body)
            self.table = Above(above.headings, above.leads, (number,))
            self.said[number] = " | ".join(cells(body))
            return above
        edged = body.lstrip().startswith("|")
        self.table = (inside or self._start(body)) if edged else None
        return self.table

    def _body_row(self, number: int, body: str, table: Above) -> Above:
        """What a row below the head has above it; it may be above the next ones itself."""
        first = table.heads[0]
        if number == first + 1 or not body.lstrip().startswith("|"):
            return table
        row = cells(body)
        filled = [cell for cell in row if cell]
        if len(filled) == 1 and len(cells(self.lines[first])) > 1:
            self.said[number] = filled[0]
            self.table = replace(table, group=(number,))
            return replace(table, group=())
        if number == first + len(table.heads) + 1 and _names_columns(row, filled):
            self.said[number] = " | ".join(row)
            self.table = replace(table, heads=(*table.heads, number))
        return table

    def _may_be_row(self, number: int, body: str) -> bool:
        """Whether a table goes on with this line: it does until other things begin."""
        if "|" not in body and self.fence:
            return False
        if self.table is not None and self.table.heads == (number - 1,):
            return True  # the rule below the head may look like a list item
        return body.lstrip().startswith("|") or not (ITEM.match(body) or RULE.fullmatch(body))

    def _is_head(self, number: int, body: str) -> bool:
        """Whether the next line rules off as many columns as this one has."""
        under = self.lines[number + 1] if number + 1 < len(self.lines) else ""
        if "|" not in under or under.strip("> \t|:-"):
            return False
        columns = cells(QUOTE.sub("", under, count=1))
        return all(map(COLUMN.fullmatch, columns)) and len(columns) == len(cells(body))

    def _start(self, body: str) -> Above:
        """What a table that starts here has above it."""
        return self.code if self.fence else self._block(body)

    def _block(self, body: str) -> Above:
        """What a table or code block that starts here has above it."""
        lead = self._lead()
        self._leave(body)
        return Above(self.headings, self._leads(lead))

    def _item(self, number: int, body: str) -> Above:
        lead = self._lead()
        sibling = self._leave(body)
        if sibling is not None:
            lead = sibling.lead
        found = Above(self.headings, self._leads(lead))
        self.items.append(_Item(_indent(body), number, lead))
        self.said[number] = body.strip()
        return found

    def _text(self, body: str) -> Above:
        # Text right below an item goes on with it, unless it leads in to something new.
        if self.blank or body.endswith(COLONS):
            self._leave(body)
        return Above(self.headings, self._leads(None))

    def _lead(self) -> int | None:
        """The line above, where it leads in to what starts here."""
        line = "" if self.kind is _Kind.OTHER else self.lines[self.last].strip()
        if not plain(line).endswith(COLONS):
            return None
        if self.last not in self.said:
            start = self.paragraphs.get(self.last, self.last)
            self.said[self.last] = sentence_of(self.lines, start, self.last + 1)
        return self.last

    def _leave(self, body: str) -> _Item | None:
        """Close the items that this line does not stand in; the outermost of them."""
        closed = None
        while self.items and _indent(body) < self.items[-1].indent + NESTED:
            closed = self.items.pop()
        return closed

    def _leads(self, lead: int | None) -> tuple[int, ...]:
        """The open items with what leads in to them, and one more lead-in; each once."""
        found = [number for item in self.items for number in (item.lead, item.number)]
        return tuple(dict.fromkeys(number for number in (*found, lead) if number is not None))


def _names_columns(row: list[str], filled: list[str]) -> bool:
    """Whether a row right below the head says more of its columns, as `| | dense | sparse |`."""
    says = not row[0] or plain(row[0]) in UNITS or all(map(BOLD.fullmatch, filled))
    return says and bool(filled) and not any(plain(cell)[:1].isdigit() for cell in row)


def _indent(body: str) -> int:
    start = body[: len(body) - len(body.lstrip())]
    return len(start.expandtabs(4))
