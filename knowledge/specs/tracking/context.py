"""What gives a line of Markdown its meaning: the headings, lead-in lines and head rows above it.

The blocks are those of CommonMark with GitHub's tables. A fence hides headings and lists; a table
in it is still read as one. An item of a list is above what is nested in it. A lead-in ends with a
colon right before a list, a table or a code block. A bold line alone is a heading, and a row with
one filled cell is above the rows that follow it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from markdown_it import MarkdownIt
from markdown_it.token import Token

from knowledge.specs import html_lines

EMPHASIS = re.compile(r"(\*{1,3})(?=\S)(.{1,200}?)(?<=\S)\1")
UNDERSCORES = re.compile(r"(?<!\w)(_{1,3})(?=\S)(.{1,200}?)(?<=\S)\1(?!\w)")
MOST_SHOWN = 120  # characters of a changed line in a note
SHOWN_BEFORE = 40  # of those, before the first that differs
# A row that starts with "- |" rules off a table too, which markdown-it reads as a list.
LIST_LIKE_RULE = re.compile(r"(?m)^- (?=\|[-:| \t]*$)")
TEXTS = ("paragraph_open", "heading_open", "html_block")
QUOTE = re.compile(r"^(?: {0,3}> ?)+")
PIPE = re.compile(r"(?<!\\)\|")
BOLD = re.compile(
    r"(?:\*\*(?=\S)([^*]+)\*\*|__(?=\S)([^_]+)__|<(b|strong)>([^<]+)</\3>)", re.IGNORECASE
)
BOLD_LEVEL = 7  # a bold line stands below all headings
SENTENCE_END = re.compile(r"[.!?][*_)\"']*(?:\s+(?=[^a-z\s])|$)")
COLONS = (":", "\uff1a")  # the second is the full-width one
MOST_LINES = 20  # of a paragraph, in which its last sentence is looked for
UNITS = ("unit", "units")  # the first cell of a row that gives the units of the columns

MARKDOWN = MarkdownIt("commonmark").enable("table").disable("reference")
TABLES = MarkdownIt("zero").enable("table")
for parser in (MARKDOWN, TABLES):
    parser.core.ruler.enableOnly(["normalize", "block"])


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
    was = " > ".join(old)
    reads = " > ".join(new)
    pairs = enumerate(zip(was, reads, strict=False))
    alike = next((n for n, (one, other) in pairs if one != other), min(len(was), len(reads)))
    short = max(len(was), len(reads)) <= MOST_SHOWN
    start = 0 if short else max(0, alike - SHOWN_BEFORE)
    was, reads = _clipped(was, start), _clipped(reads, start)
    if old and new:
        return f"the {part} was '{was}' and is '{reads}'"
    if old:
        return f"the {part} is gone: '{was}'"
    return f"the {part} is new: '{reads}'" if new else ""


def _clipped(text: str, start: int) -> str:
    """At most MOST_SHOWN characters from `start`."""
    end = start + MOST_SHOWN
    return ("…" if start else "") + text[start:end] + ("…" if text[end:] else "")


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


@dataclass(slots=True)
class Outline:
    """What stands above each line, itself included where it is a heading.

    said: the words of every line that stands above others. levels: heading line → its level.
    hidden: the lines in HTML comments. paragraphs: each line of text and where its paragraph
    begins. json: first line and end of each code block that is JSON.
    """

    above: list[Above]
    said: dict[int, str] = field(default_factory=dict)
    levels: dict[int, int] = field(default_factory=dict)
    hidden: set[int] = field(default_factory=set)
    paragraphs: dict[int, int] = field(default_factory=dict)
    json: list[tuple[int, int]] = field(default_factory=list)

    @property
    def titles(self) -> list[int]:
        """The headings of level 1; the first names what the document speaks of."""
        return [number for number, level in self.levels.items() if level == 1]


def cells(row: str) -> list[str]:
    """The cells of a table row, without the pipes at both ends."""
    inner = row.strip().removeprefix("|")
    found = PIPE.split(inner)
    if len(found) > 1 and not found[-1].strip():
        found.pop()
    return [cell.strip() for cell in found]


def read_outline(lines: Sequence[str]) -> Outline:
    """Read the lines of a document, without blanks at their ends."""
    blocks = _blocks(lines)
    code = {number for block in blocks if block.type == "fence" for number in _lines(block)}
    comments = html_lines.Comments(lines)
    hidden = {n for n, line in enumerate(lines) if n not in code and comments.hide(n, line)}
    if hidden:
        blocks = _blocks(["" if number in hidden else line for number, line in enumerate(lines)])
    reading = _OutlineReader(lines, Outline([Above()] * len(lines), hidden=hidden))
    reading.take(blocks)
    return reading.outline


def sentence_of(lines: Sequence[str], first: int, end: int) -> str:
    """What these lines of a paragraph say behind the last end of a sentence in them."""
    text = " ".join(line.strip() for line in lines[max(first, end - MOST_LINES) : end])
    ends = [found.end() for found in SENTENCE_END.finditer(text)]
    return text[ends[-1] :] if ends else text


def _blocks(lines: Sequence[str]) -> list[Token]:
    text = "".join(f"{line}\n" for line in lines).replace("\r", " ")
    return MARKDOWN.parse(LIST_LIKE_RULE.sub("--", text))


def _lines(block: Token) -> range:
    return range(*block.map) if block.map else range(0)


@dataclass(slots=True)
class _List:
    """An open list: the line that leads in to its items, and the line of its open item."""

    lead: int | None
    item: int = -1


@dataclass(slots=True)
class _OutlineReader:
    """The state after the blocks read so far; text: the last line, where that is a text."""

    lines: Sequence[str]
    outline: Outline
    headings: tuple[int, ...] = ()
    lists: list[_List] = field(default_factory=list)
    quotes: int = 0
    text: int | None = None
    html: html_lines.HtmlTable | None = None
    html_above: Above = field(default_factory=Above)

    def take(self, blocks: list[Token]) -> None:
        """Read all blocks of a document."""
        for block, inner in zip(blocks, [*blocks[1:], *blocks[-1:]], strict=True):
            self._block(block, inner.content)
        inside = Above()
        for number, above in enumerate(self.outline.above):
            if above.headings:
                inside = Above(above.headings)
            elif not above.lines:
                self.outline.above[number] = inside

    def _block(self, block: Token, words: str) -> None:
        """Read one block; words: of the one in it."""
        lines = _lines(block)
        bold = self._bold(lines) if block.type == "paragraph_open" else ""
        if block.type == "heading_open" and not self.quotes:
            self._heading(lines, int(block.tag[1]), words)
        elif bold:
            self._heading(lines, BOLD_LEVEL, bold)
        elif block.type in TEXTS:
            self._text(lines)
        elif block.type == "code_block":
            self._set(lines, self._here())
        elif block.type == "fence":
            self._fence(lines, block)
        elif block.type == "table_open":
            self._table(lines, self._here())
        elif block.type == "hr":
            self.text = None
        else:
            self._container(block.type, lines)

    def _container(self, kind: str, lines: range) -> None:
        """Open or close a quotation, a list or an item."""
        if kind in ("blockquote_open", "blockquote_close"):
            self.quotes += 1 if kind == "blockquote_open" else -1
        elif kind in ("bullet_list_open", "ordered_list_open"):
            self.lists.append(_List(self._lead()))
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self.lists.pop()
        elif kind == "list_item_open":
            self._item(lines.start)

    def _bold(self, lines: range) -> str:
        """The words of a bold line alone, which is a heading; "" of any other text."""
        found = BOLD.fullmatch(self.lines[lines.start])
        if found is None or len(lines) > 1 or self.lists or self.quotes:
            return ""
        words: str = found[1] or found[2] or found[4]
        return "" if words.endswith(COLONS) else words

    def _heading(self, lines: range, level: int, words: str) -> None:
        number, levels = lines.start, self.outline.levels
        levels[number], self.outline.said[number] = level, " ".join(words.split())
        outer = (above for above in self.headings if levels[above] < level)
        self.headings = (*outer, number)
        self._set(lines, Above(self.headings))
        self.text = self.html = None

    def _text(self, lines: range) -> None:
        """Read the lines of a paragraph or of HTML, in which headings and tables may stand."""
        start, rows = lines.start, None
        for number in lines:
            line = self.lines[number]
            heading = html_lines.HEADING.fullmatch(line)
            is_table = heading is None and self._html(number, line)
            is_item = bool(self.lists) and number == self.lists[-1].item
            is_row = self._body(number).lstrip().startswith("|")
            if heading is not None:
                words = html_lines.words_of(heading[2])
                self._heading(range(number, number + 1), int(heading[1]), words)
            elif not is_table and not is_item:
                rows = (rows or self._here()) if is_row else None
                self.outline.above[number] = rows or Above(self.headings, self._leads())
            if heading is not None or is_table or is_item or is_row:
                start = number + 1
            else:
                self.outline.paragraphs[number] = start
            self.text = None if heading is not None or is_table or is_row else number

    def _html(self, number: int, line: str) -> bool:
        """Whether the line is of an HTML table, whose head cells stand above its others."""
        if html_lines.TABLE.match(line):
            self.html, self.html_above = html_lines.HtmlTable(), self._here()
        if self.html is None:
            return False
        before = (*self.html.columns, *self.html.row)
        if self.html.take(number, line):
            self.outline.said[number] = html_lines.words_of(line)
        own = before if number in self.html.columns else (*self.html.columns, *self.html.row)
        self.outline.above[number] = replace(self.html_above, heads=own)
        if self.html.ended:
            self.html = None
        return True

    def _fence(self, lines: range, block: Token) -> None:
        above, first = self._here(), lines.start + 1
        self._set(lines, above)
        for table in TABLES.parse(block.content):
            if table.type == "table_open":
                rows = _lines(table)
                self._table(range(first + rows.start, first + rows.stop), above)
        if block.info.strip().casefold().startswith("json") and not self.quotes:
            self.outline.json.append((first, first + block.content.count("\n")))

    def _table(self, lines: range, above: Above) -> None:
        """Read a table; rows below its head may stand above the next ones themselves."""
        said, head = self.outline.said, lines.start
        columns = cells(self._body(head))
        said[head] = " | ".join(columns)
        table = replace(above, heads=(head,))
        self._set(lines, table)
        self.outline.above[head] = above
        for number in lines[2:]:
            row = cells(self._body(number))
            filled = [cell for cell in row if cell]
            self.outline.above[number] = table
            if not self._body(number).lstrip().startswith("|"):
                continue
            if len(filled) == 1 and len(columns) > 1:
                said[number] = filled[0]
                self.outline.above[number] = replace(table, group=())
                table = replace(table, group=(number,))
            elif number == head + len(table.heads) + 1 and _names_columns(row, filled):
                said[number] = " | ".join(row)
                table = replace(table, heads=(*table.heads, number))

    def _item(self, number: int) -> None:
        """Open an item; text below the one before may lead in to it and what follows."""
        here, lead = self.lists[-1], self._lead()
        if lead is not None and 0 <= here.item < lead and self.lines[lead][:1].strip():
            here.lead = lead
        here.item = -1
        self.outline.above[number] = Above(self.headings, self._leads())
        self.outline.said[number] = self._body(number).strip()
        here.item = number

    def _here(self) -> Above:
        """What a table or code block that starts here has above it."""
        lead = self._lead()
        self.text = None
        return Above(self.headings, self._leads(lead))

    def _lead(self) -> int | None:
        """The line above, where it leads in to what starts here."""
        if self.text is None or not plain(self.lines[self.text].strip()).endswith(COLONS):
            return None
        if self.text not in self.outline.said:
            start = self.outline.paragraphs.get(self.text, self.text)
            self.outline.said[self.text] = sentence_of(self.lines, start, self.text + 1)
        return self.text

    def _leads(self, lead: int | None = None) -> tuple[int, ...]:
        """The open items with what leads in to them, and one more lead-in; each once."""
        found = [number for each in self.lists for number in (each.lead, each.item)]
        return tuple(dict.fromkeys(n for n in (*found, lead) if n is not None and n >= 0))

    def _set(self, lines: Iterable[int], above: Above) -> None:
        for number in lines:
            self.outline.above[number] = above

    def _body(self, number: int) -> str:
        """The line without its quote marks."""
        return QUOTE.sub("", self.lines[number])


def _names_columns(row: list[str], filled: list[str]) -> bool:
    """Whether a row right below the head says more of its columns, as `| | dense | sparse |`."""
    says = not row[0] or plain(row[0]) in UNITS or all(map(BOLD.fullmatch, filled))
    return says and bool(filled) and not any(plain(cell)[:1].isdigit() for cell in row)
