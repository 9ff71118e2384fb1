"""Markdown that other systems write: sections, tables, facts and figures, each with its line."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from campaigns.trails.importers.claims import Claim, refused
from knowledge.specs.citation import split_lines

FENCE = re.compile(r"\s*(```+|~~~+)")
HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
BAR = re.compile(r"(?<!\\)\|")
# A bar with a blank on both sides ends a cell even where others are part of the text, as in |x|.
SPACED_BAR = re.compile(r"(?<=\s)\|(?=\s)")
RULE = re.compile(r"\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$")
FACT = re.compile(
    r"\s*(?:[-*+]\s+)?(?:\*\*)?([A-Za-z][\w .()/%-]{0,60}?)(?:\*\*)?\s*[:=](?:\*\*)?\s+(.*)"
)
ESCAPED = re.compile(r"\\([\\`*\[\]|_#<>-])")
FIGURE = re.compile(r"([+-]?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([^\d\s(±,;][^\s(±,;]*)?")
NOTHING = re.compile(r"(?:|-+|–|—|n/?a\b.*|tbd|unknown|none|null|nan)\s*", re.IGNORECASE)


# A longer line is data and no prose; patterns over it would take their time.
LONGEST_LINE = 4000
FIELDS = ("Context", "Signal", "Takeaway", "Applicability")
ENTRY = re.compile(r"(?P<at>.*?)\s*\bround-(?P<round>\d{1,6})\s*[—–:-]+\s*(?P<status>.+)")
FIELD = re.compile(r"\s*[-*]?\s*\**(\w+)\**\s*:\**\s*(.*)")


@dataclass(frozen=True, slots=True)
class MarkdownSection:
    """A heading, its line, and the prose below it up to the next heading: (number, text)."""

    title: str
    level: int
    line: int
    body: tuple[tuple[int, str], ...]

    @property
    def text(self) -> str:
        """What it says, as one paragraph."""
        return " ".join(plain(line) for _, line in self.body if line.strip())


@dataclass(frozen=True, slots=True)
class MarkdownRow:
    """A row of a table: where it stands, and its cells under their column names."""

    path: str
    line: int
    head: tuple[str, ...]
    cells: tuple[str, ...]

    def text(self, begins: str) -> str:
        """The cell of the first column whose name begins so; empty where nothing is said."""
        place = column(self.head, begins)
        return "" if place is None else said(self.cells[place])

    def number(self, begins: str) -> float | None:
        """The number that this cell starts with; None where it says nothing."""
        return figure(self.path, self.line, begins, self.text(begins))[0]

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Every cell that says something."""
        pairs = zip(self.head, self.cells, strict=True)
        return tuple(Claim(name, said(cell), self.path, self.line) for name, cell in pairs
                     if said(cell))  # fmt: skip

    @property
    def empty(self) -> tuple[str, ...]:
        """The columns of which it says nothing."""
        pairs = zip(self.head, self.cells, strict=True)
        return tuple(name for name, cell in pairs if not said(cell))


@dataclass(frozen=True, slots=True)
class MarkdownTable:
    """title: of the section that it stands in. line: of its head."""

    title: str
    line: int
    head: tuple[str, ...]
    rows: tuple[MarkdownRow, ...]

    def has(self, *begins: str) -> bool:
        """Whether it has columns whose names begin so."""
        return all(column(self.head, each) is not None for each in begins)


def column(head: Sequence[str], begins: str) -> int | None:
    """The place of the first column whose name begins so, whatever its case."""
    return next((n for n, name in enumerate(head) if name.lower().startswith(begins)), None)


def sections(text: str) -> list[MarkdownSection]:
    """All sections; what stands before the first heading has an empty title."""
    found: list[tuple[str, int, int, list[tuple[int, str]]]] = [("", 0, 1, [])]
    for number, line, fenced in _lines(text):
        heading = None if fenced else HEADING.match(line)
        if heading:
            found.append((plain(heading[2]), len(heading[1]), number, []))
        elif not fenced:
            found[-1][3].append((number, line))
    return [MarkdownSection(title, level, line, tuple(body)) for title, level, line, body in found]


def title_of(text: str) -> str:
    """The first heading of the first level, empty without one."""
    return next((one.title for one in sections(text) if one.level == 1), "")


def tables(path: str, text: str) -> list[MarkdownTable]:
    """All tables. TrailRefused for a row with another number of cells than the head."""
    found = []
    for section in sections(text):
        lines = [(n, line) for n, line in section.body if line.lstrip().startswith("|")]
        # Lines that follow each other are as far from their places in the list.
        for _, group in groupby(enumerate(lines), key=lambda one: one[1][0] - one[0]):
            block = [line for _, line in group]
            if len(block) < 2 or not RULE.match(block[1][1].strip()):
                continue
            width = len(cells(block[1][1]))
            head = cells(block[0][1], width)
            rows = tuple(
                MarkdownRow(path, n, head, cells(line, len(head))) for n, line in block[2:]
            )
            for row in rows:
                if len(row.cells) != len(head):
                    what = f"a row of {len(row.cells)} cells"
                    raise refused(path, row.line, what, f"{len(head)}: {', '.join(head)}")
            found.append(MarkdownTable(section.title, block[0][0], head, rows))
    return found


def facts(path: str, text: str) -> dict[str, Claim]:
    """Name in small letters → what is said: `- **Name:** value`, or a table of two columns."""
    found: dict[str, Claim] = {}
    for number, line, fenced in _lines(text):
        fact = None if fenced or line.lstrip().startswith("|") else FACT.match(line)
        if fact and said(fact[2]):
            claim = Claim(plain(fact[1]), said(fact[2]), path, number)
            found.setdefault(claim.field.lower(), claim)
    for table in tables(path, text):
        for row in table.rows:
            if len(row.cells) == 2 and said(row.cells[1]):
                name, value = row.cells
                found.setdefault(name.lower(), Claim(name, said(value), path, row.line))
    return found


def value_of(known: Mapping[str, Claim], *names: str) -> str:
    """What the first of these facts that is there says; empty where none is."""
    return next((str(known[name].value) for name in names if name in known), "")


def cells(line: str, width: int | None = None) -> tuple[str, ...]:
    """The cells of a table's line, without their marks. width: how many there should be."""
    inner = line.strip().removeprefix("|")
    if not inner.endswith("\\|"):
        inner = inner.removesuffix("|")
    parts = BAR.split(inner)
    spaced = SPACED_BAR.split(inner)
    if width is not None and len(parts) != width == len(spaced):
        parts = spaced
    return tuple(plain(part) for part in parts)


def plain(text: str) -> str:
    """A line without the marks of Markdown around its words."""
    bare = re.sub(r"(?<!\\)(\*\*|`)", "", text.strip())
    return html.unescape(ESCAPED.sub(r"\1", bare)).strip()


def said(text: str) -> str:
    """The text; empty where it only says that there is nothing."""
    bare = plain(text)
    return "" if NOTHING.fullmatch(bare) else bare


def figure(path: str, line: int, name: str, text: str) -> tuple[float | None, str]:
    """The number at the start of a cell and its unit; None where the cell says nothing."""
    bare = said(text)
    if not bare:
        return None, ""
    found = FIGURE.match(bare)
    if not found:
        accepted = "a number, or N/A, - or — where there is none"
        raise refused(path, line, f"{name}: {bare[:60]!r}", accepted)
    return float(found[1].replace(",", "")), found[2] or ""


def _lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """(number, line, whether it belongs to a fenced block or is too long for prose)."""
    fence = ""
    for number, line in enumerate(split_lines(text), 1):
        if len(line) > LONGEST_LINE:
            yield number, line, True
            continue
        mark = FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            yield number, line, True
        else:
            yield number, line, bool(fence)


def tips_of(path: str, text: str) -> Iterator[Claim]:
    """One claim for each field of each entry. TrailRefused for an entry that lacks one."""
    for section in sections(text):
        entry = ENTRY.fullmatch(section.title) if section.level == 3 else None
        if entry is None:
            continue
        name = f"round-{entry['round']} {entry['status'].strip()}"
        found: dict[str, Claim] = {}
        for line, words in section.body:
            field = FIELD.match(words)
            if field and field[1].capitalize() in FIELDS and said(field[2]):
                label = field[1].capitalize()
                found[label] = Claim(f"{name}: {label}", plain(field[2]), path, line)
        lost = [label for label in FIELDS if label not in found]
        if lost:
            what = f"tip {name}: without {', '.join(lost)}"
            raise refused(path, section.line, what, ", ".join(FIELDS))
        yield from (found[label] for label in FIELDS)
