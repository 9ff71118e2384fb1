"""A document's lines as they stand, as they are compared, and what stands above each.

Of a line of JSON, `"dense": 1979,`, the product, the data type and the unit stand on other lines.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from knowledge.specs.citation import split_lines
from knowledge.specs.json_text import TOKEN
from knowledge.specs.tracking.context import ContextPart, plain, read_outline, sentence_of

WORD = re.compile(r"\w+(?:\.\w+)*")
DIGITS = re.compile(r"\d+")
NEIGHBOURS = 3  # lines of context on each side, blank ones left out
MOST_OF_A_LIST = 2  # words from which a line of text is part of a sentence

Trail = tuple[str, ...]
RAISED = str.maketrans("¹²³⁴⁵⁶⁷⁸⁹", "123456789")
SIGNS = "[†‡§]+|[¹²³⁴⁵⁶⁷⁸⁹]+|<sup>[^<>]{1,8}</sup>"
# A star with a blank behind it begins a list, one with another star at the end is emphasis.
NOTE = re.compile(
    rf"[\s>]*(?:[-+]\s+)?(?:\[\^(?P<name>[^\]\s]+)\]:|(?P<mark>(?:\\\*)+|\*+(?=[^\s*][^*]*$)|{SIGNS}))"
    r"[):]?\s*(?P<words>\S.*)"
)
REFERENCE = re.compile(
    rf"\[\^(?P<name>[^\]\s]+)\]|(?P<mark>(?:\\\*)+|(?<=[\w)%])\*+(?![\w*])|{SIGNS})"
)
MOST_LINES = 20  # of one note


@dataclass(frozen=True, slots=True)
class LineSpan:
    """The lines `first` up to but not including `end`, from 0."""

    first: int
    end: int

    @property
    def locator(self) -> str:
        """`L23` or `L23-L25`, counted from 1 as citations do."""
        first = f"L{self.first + 1}"
        return first if self.end == self.first + 1 else f"{first}-L{self.end}"


def listed(places: list[LineSpan]) -> str:
    """The places for a sentence: `L23, L31-L32`."""
    return ", ".join(place.locator for place in places)


class Text:
    """One version: lines as they stand, as compared, and what stands above each.

    above: the lines above, without a title that stands alone, which says nothing about which
    section a line is in. chains: the headings among them. trails: the words of all of them.
    """

    def __init__(self, text: str) -> None:
        self.lines = split_lines(text)
        self.keys = [line.rstrip() for line in self.lines]
        self.outline = read_outline(self.keys)
        titles = self.outline.titles
        title = titles[0] if len(titles) == 1 else None
        kinds = {}
        for above in set(self.outline.above):
            headings = tuple(number for number in above.headings if number != title)
            kinds[above] = replace(above, headings=headings)
        self.chains = [kinds[above].headings for above in self.outline.above]
        self.above = [kinds[above].lines for above in self.outline.above]
        words = {number: plain(said) for number, said in self.outline.said.items()}
        trails = {above: tuple(words[n] for n in kinds[above].lines) for above in kinds}
        self.trails: list[Trail] = [trails[above] for above in self.outline.above]

    def context(self, place: LineSpan) -> dict[ContextPart, list[str]]:
        """What gives the lines of a place their meaning, as it reads, without those lines."""
        spoken = (number for number in range(place.first, place.end) if self.keys[number])
        above = self.outline.above[next(spoken, place.first)]
        title = next(iter(self.outline.titles), None)
        parts = {
            ContextPart.TITLE: () if title is None else (title,),
            ContextPart.HEADING: tuple(number for number in above.headings if number != title),
            ContextPart.LEAD: above.leads,
            ContextPart.HEAD: above.heads,
            ContextPart.GROUP: above.group,
        }
        quoted = range(place.first, place.end)
        found = {
            part: [self.outline.said[number] for number in numbers if number not in quoted]
            for part, numbers in parts.items()
        }
        said = (
            *self.keys[place.first : place.end],
            *found[ContextPart.HEAD],
            *found[ContextPart.LEAD],
        )
        found[ContextPart.SENTENCE] = self._sentence(place)
        found[ContextPart.NOTE] = self._notes.of(map(plain, said), place.end)
        return found | self._json_context(place)

    def _sentence(self, place: LineSpan) -> list[str]:
        """The beginning of the sentence that the first line goes on with, if there is one."""
        start = self.outline.paragraphs.get(place.first, place.first)
        # One word to a line is a list without marks, and no sentence.
        if start == place.first or len(self.words[place.first - 1]) < MOST_OF_A_LIST:
            return []
        said = sentence_of(self.keys, start, place.first)
        return [said] if said else []

    def _json_context(self, place: LineSpan) -> dict[ContextPart, list[str]]:
        for start, end, around in self._json:
            if start <= place.first < end:
                first = place.first - start
                fields = around.fields(first, place.end - start)
                return {ContextPart.KEYS: around.keys(first), ContextPart.FIELD: fields}
        return {ContextPart.KEYS: [], ContextPart.FIELD: []}

    @cached_property
    def _json(self) -> list[tuple[int, int, JsonAround]]:
        """First line, end and reading of each code block that is JSON."""
        blocks = self.outline.json
        return [(start, end, JsonAround(self.keys[start:end])) for start, end in blocks]

    @cached_property
    def _notes(self) -> Footnotes:
        return Footnotes(self.keys)

    @cached_property
    def numbers(self) -> dict[str, list[int]]:
        """The numbers of the lines that read so, rising."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, key in enumerate(self.keys):
            found[key].append(number)
        return found

    @cached_property
    def words(self) -> list[frozenset[str]]:
        return [frozenset(WORD.findall(key)) for key in self.keys]

    @cached_property
    def shapes(self) -> list[str]:
        """The lines with every number as '#': equal when only digits were altered."""
        return [DIGITS.sub("#", key) for key in self.keys]

    def around(self, place: LineSpan) -> tuple[list[str], list[str]]:
        """The nearest lines of the section before and after that are not blank."""
        before = self._nearest(place.first, range(place.first - 1, -1, -1))
        return before, self._nearest(place.first, range(place.end, len(self.keys)))

    def _nearest(self, home: int, numbers: range) -> list[str]:
        found: list[str] = []
        for number in numbers:
            if self.chains[number] != self.chains[home] or len(found) == NEIGHBOURS:
                break
            if self.keys[number]:
                found.append(self.keys[number])
        return found


class Footnotes:
    """The notes of a document, by what refers to them."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._places: dict[str, list[int]] = defaultdict(list)
        self._words: dict[int, str] = {}
        for number, line in enumerate(lines):
            found = NOTE.match(line)
            if found is not None:
                self._places[_key(found)].append(number)
                self._words[number] = found["words"]

    def of(self, texts: Iterable[str], number: int) -> list[str]:
        """The notes that these texts, which stand at or above line `number`, refer to."""
        if not self._places:
            return []
        keys = (_key(found) for text in texts for found in REFERENCE.finditer(text))
        known = [key for key in dict.fromkeys(keys) if key in self._places]
        found = []
        for places in (self._places[key] for key in known):
            # The next note below, else the last one above.
            found.append(self._read(places[min(bisect_left(places, number), len(places) - 1)]))
        return found

    def _read(self, first: int) -> str:
        said = [self._words[first]]
        for number in range(first + 1, min(first + MOST_LINES, len(self._lines))):
            if not self._lines[number] or number in self._words:
                break
            said.append(self._lines[number].strip())
        return " ".join(said)


def _key(found: re.Match[str]) -> str:
    if found["name"] is not None:
        return f"^{found['name']}"
    mark = found["mark"].replace("\\", "")
    return mark.removeprefix("<sup>").removesuffix("</sup>").strip().translate(RAISED)


# Fields that say what the other values of their object are values of.
IDENTITY = frozenset(
    {
        *("schema", "id", "status", "vendor", "arch", "product", "platform", "name", "model"),
        *("gpu", "device", "metric", "dtype", "accumulate", "sparsity", "unit", "unit_kind"),
        *("kilobyte", "per", "clock"),
    }
)
OF_PARENT = ("identity", "qualifiers")  # objects that name the one around them


@dataclass(eq=False, slots=True)
class _Node:
    """An object or array; lines count from 0 and `end` is the one of its closing bracket."""

    parent: _Node | None
    key: str
    is_array: bool
    start: int
    end: int
    named: tuple[str, int] | None = None  # the key that waits for its value
    fields: list[tuple[str, str, int]] = field(default_factory=list)  # name, value, line

    def take(self, name: str, value: str, line: int) -> None:
        """Note a field that says what this object, or the one around it, is of."""
        if self.key in OF_PARENT and self.parent is not None:
            self.parent.fields.append((f"{self.key}.{name}", value, line))
        elif name in IDENTITY:
            self.fields.append((name, value, line))


class JsonAround:
    """The lines of one JSON text. What is no valid JSON is read as far as its brackets go."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._inside: dict[int, list[_Node]] = defaultdict(list)
        top = _Node(None, "", True, -1, len(lines))
        for number, line in enumerate(lines):
            for token in TOKEN.finditer(line):
                inside = self._inside[number]
                if not inside or inside[-1] is not top:
                    inside.append(top)
                top = _after(top, token[0], number, len(lines))

    def keys(self, line: int) -> list[str]:
        """The keys above a line, the outermost first."""
        nodes = self._inside.get(line)
        above = _up(nodes[0]) if nodes else []
        return [node.key for node in reversed(above) if node.key and node.start < line]

    def fields(self, first: int, end: int) -> list[str]:
        """What names the objects that these lines stand in, as `name: value`, without the lines."""
        found: dict[_Node, None] = {}
        for number in range(first, end):
            for node in self._inside.get(number, []):
                if node.start < first or node.end >= end:
                    found |= dict.fromkeys(_up(node)[::-1])
        return [
            f"{name}: {value}"
            for node in found
            for name, value, line in sorted(node.fields)
            if not first <= line < end
        ]


def _after(top: _Node, mark: str, line: int, end: int) -> _Node:
    """Take one token; the object or array that is open after it."""
    if mark in ("{", "["):
        key, start = top.named or ("", line)
        top.named = None
        return _Node(top, key, mark == "[", start, end)
    if mark in ("}", "]"):
        top.end = line
        return top.parent or top
    if mark == ",":
        top.named = None
    elif mark != ":" and not top.is_array and top.named is None:
        top.named = _unquoted(mark), line
    elif mark != ":" and not top.is_array and top.named is not None:
        top.take(top.named[0], _unquoted(mark), line)
    return top


def _unquoted(mark: str) -> str:
    """A string without its quotation marks; anything else as it is written."""
    try:
        value = json.loads(mark)
    except ValueError:
        return mark
    return value if isinstance(value, str) else mark


def _up(node: _Node) -> list[_Node]:
    """The node and those around it, the innermost first."""
    found = [node]
    while node.parent is not None:
        node = node.parent
        found.append(node)
    return found
