"""The one reader of JSON that others wrote: strict, bounded, numbers as written, lines known.

`parse_json` gives a `Node`; its fields are nodes too, and each says what it holds as one type or
raises a RecordError with its place, its line and what is accepted there.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn
from uuid import UUID

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
CLOSES = {"[": "]", "{": "}"}
MAX_BYTES = 10_000_000
MAX_DEPTH = 64
LONGEST_WORDS = 1000  # characters of a message, in which a file may be quoted
LONGEST_TEXT = 20_000  # characters of one field
LONGEST_PART = 2_000  # characters of a text inside of a list or an object
LARGEST = 2**31 - 1  # of a count, as a column holds it
KINDS = {str: "a string", bool: "true or false", list: "an array", dict: "an object"}

Lines = Mapping[str, tuple[int, int]]  # place → first and last line, from 1


class RecordError(ValueError):
    """A file, or a part of one, that cannot be read.

    message: what is wrong and what is accepted. place: its JSON path, with which the whole text of
    the error starts; "" outside of JSON. key: the name that is wrong, where one is. line: from 1.
    """

    def __init__(self, message: str, place: str = "", key: str = "", line: int = 1) -> None:
        super().__init__(printable(f"{place}: {message}" if place else message))
        self.message = printable(message)
        self.place = place
        self.key = key
        self.line = line


class JsonNumber(str):
    """A JSON number as written: a float would turn 989.40 into 989.4 and lose long ones."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Node:
    """One value, its place (`$.facts.memory.capacity_gb` or `$[3]`) and the lines of its file.

    What is null counts as not given: an empty text, no items, None of another type.
    """

    place: str
    value: Any
    lines: Lines = field(default_factory=dict, repr=False, compare=False)

    @property
    def key(self) -> str:
        """The name of the field; "" for the whole text or an element of it."""
        return self.place.partition(".")[2].rpartition(".")[2]

    @property
    def span(self) -> tuple[int, int]:
        """First and last line of the value, or of what is nearest around it."""
        place = self.place
        while place and place not in self.lines:
            place = place[: max(place.rfind("."), place.rfind("["), 0)]
        return self.lines.get(place, (1, 1))

    @property
    def line(self) -> int:
        """The line on which the value begins."""
        return self.span[0]

    def error(self, message: str, key: str = "") -> RecordError:
        """What is wrong with this value."""
        return RecordError(message, self.place, key or self.key, self.line)

    def __getitem__(self, name: str) -> Node:
        """The field of an object, null where it has none."""
        inside = {} if self.value is None else self._of(dict)
        return Node(f"{self.place}.{name}", inside.get(name), self.lines)

    def fields(self, accepted: tuple[str, ...] | None = None) -> dict[str, Node]:
        """The fields of an object. Others than `accepted` are refused."""
        found = {name: self[name] for name in self._of(dict)}
        for name, each in found.items():
            if accepted is not None and name not in accepted:
                raise each.error(f"unknown field; accepted: {', '.join(accepted)}", name)
        return found

    def items(self) -> list[Node]:
        """The elements of an array."""
        listed = [] if self.value is None else self._of(list)
        return [Node(f"{self.place}[{n}]", each, self.lines) for n, each in enumerate(listed)]

    def string(self, most: int | None = None, kind: str = "a string") -> str:
        """A text as it stands, of at most so many characters, that every database can hold."""
        found = self.value
        if not isinstance(found, str) or isinstance(found, JsonNumber):
            raise self.error(f"accepted: {kind}")
        require_storable(self, found)
        if most is not None and len(found) > most:
            raise self.error(f"{len(found)} characters; accepted: at most {most}")
        return found

    def text(self, most: int = LONGEST_TEXT) -> str:
        """The same, "" where it is not given."""
        return "" if self.value is None else self.string(most, "a text")

    def said(self) -> str:
        """A text that says something, on one line and without outer blanks."""
        found = " ".join(self._of(str).split())
        if not found:
            raise self.error("an empty string; accepted: a string that says something")
        return found

    def number(self) -> float | None:
        """A finite number."""
        if self.value is not None and not isinstance(self.value, JsonNumber):
            raise self.error("accepted: a number or null")
        found = None if self.value is None else float(self.value)
        if found is not None and not math.isfinite(found):
            raise self.error("accepted: a finite number")
        return found

    def count(self, least: int = 0) -> int | None:
        """A whole number."""
        if self.value is None:
            return None
        found = float(self.value) if isinstance(self.value, JsonNumber) else math.nan
        if not (least <= found <= LARGEST and found == int(found)):
            raise self.error(f"accepted: a whole number from {least} to {LARGEST}")
        return int(found)

    def flag(self) -> bool | None:
        """True or false."""
        if self.value is not None and not isinstance(self.value, bool):
            raise self.error("accepted: true or false")
        return self.value

    def one_of(self, accepted: tuple[str, ...], default: str = "") -> str:
        """One of some words; `default` where it is not given."""
        found = self.text().strip() or default
        if found not in accepted:
            raise self.error(f"'{found[:60]}'; accepted: {', '.join(filter(None, accepted))}")
        return found

    def uuid(self) -> str:
        """A UUID in its usual spelling, or ""."""
        found = self.text(60).strip()
        try:
            return str(UUID(found)) if found else ""
        except ValueError:
            raise self.error(f"'{found}'; accepted: a UUID") from None

    def moment(self) -> datetime.datetime | None:
        """A date or a time; UTC where it names no zone."""
        said = self.text(60).strip()
        try:
            found = datetime.datetime.fromisoformat(said) if said else None
        except ValueError:
            message = f"'{said}'; accepted: a date such as 2026-05-10, or a time"
            raise self.error(message) from None
        return found.replace(tzinfo=datetime.UTC) if found and not found.tzinfo else found

    def plain(self, kind: type[list[Any]] | type[dict[str, Any]]) -> Any:
        """A list or an object as plain values, its numbers as numbers."""
        if self.value is not None and not isinstance(self.value, kind):
            raise self.error(f"accepted: {'a list' if kind is list else 'an object'}")
        return self._plain(self.value) if self.value is not None else kind()

    def texts(self) -> list[str]:
        """A list of texts."""
        found: list[str] = self.plain(list)
        if not all(isinstance(each, str) for each in found):
            raise self.error("accepted: a list of texts")
        return found

    def _of(self, kind: type) -> Any:
        if not isinstance(self.value, kind) or isinstance(self.value, JsonNumber):
            own = "a number" if isinstance(self.value, JsonNumber) else KINDS.get(type(self.value))
            raise self.error(f"{own or 'null'} is not accepted; accepted: {KINDS[kind]}")
        return self.value

    def _plain(self, value: Any) -> Any:
        if isinstance(value, JsonNumber):
            number = float(value)
            if not math.isfinite(number):
                raise self.error("accepted: finite numbers")
            return int(value) if value.lstrip("-").isdigit() else number
        if isinstance(value, dict):
            return {self._plain(name): self._plain(each) for name, each in value.items()}
        if isinstance(value, list):
            return [self._plain(each) for each in value]
        if isinstance(value, str):
            require_storable(self, value)
            if len(value) > LONGEST_PART:
                raise self.error(f"a text of {len(value)} characters; accepted: {LONGEST_PART}")
        return value


def require_storable(node: Node, text: str) -> None:
    """Refuse what escapes can make and no database keeps: NUL, and halves of characters."""
    if "\0" in text:
        raise node.error("it holds a NUL character; accepted: text without")
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise node.error("it holds half of a surrogate pair; accepted: Unicode text")


def parse_json(text: str, place: str = "$", above: int = 0) -> Node:
    """Read a JSON text of at most 10 MB, its numbers as written; see `load_strict`.

    place, above: of a text that is a part of another one, its own path and the lines before it.
    """
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise RecordError(f"more than {MAX_BYTES} bytes; accepted are at most that many", "$")
    value = load_strict(text, number=JsonNumber)
    return Node(place, value, value_lines(text, place, above))


def load_strict(text: str, *, number: Callable[[str], Any] | None = None) -> Any:
    """Read a JSON text; RecordError where it is not strict JSON.

    Refused are NaN and infinities, a name given twice in one object, and deep nesting. number: what
    makes a value of a number as written; else int and float.
    """
    depth = deepest = 0
    for found in BRACKETS.finditer(text):
        depth += (found[0] in CLOSES) - (found[0] in ("]", "}"))
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise RecordError(f"nested too deep; accepted are at most {MAX_DEPTH} levels", "$")
    try:
        return json.loads(
            text,
            parse_float=number,
            parse_int=number,
            parse_constant=_constant,
            object_pairs_hook=_once,
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        message = f"no JSON at {place}: {error.msg}"
        raise RecordError(message, "$", line=error.lineno) from error


def _constant(name: str) -> NoReturn:
    raise RecordError(f"{name} is no JSON number; accepted: null or a finite number", "$")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        message = f"the name '{twice}' stands twice in one object; accepted: once"
        raise RecordError(message, "$", twice)
    return found


def printable(text: str) -> str:
    """The text as a page and both databases can hold it: short, without control characters."""
    if len(text) > LONGEST_WORDS:
        # What is accepted stands at the end.
        text = f"{text[: LONGEST_WORDS // 3]} … {text[-LONGEST_WORDS // 2 :]}"
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


@dataclass(slots=True)
class _Open:
    """An object or array that has not ended yet."""

    place: str
    is_array: bool
    start: int
    count: int = 0
    named: bool = False  # whether the next scalar of an object is a value rather than a name


def value_lines(text: str, place: str = "$", above: int = 0) -> dict[str, tuple[int, int]]:
    """Path (`$.facts[0].value`) → first and last line, from 1, of every value of a valid text."""
    breaks = [found.start() for found in re.finditer("\n", text)]
    found: dict[str, tuple[int, int]] = {}
    around: list[_Open] = []
    line = above + 1
    for token in TOKEN.finditer(text):
        mark, start = token[0], token.start()
        if mark in CLOSES:
            around.append(_Open(place, mark == "[", start))
            place = f"{place}[0]" if mark == "[" else place
            continue
        if mark == ",":
            inside = around[-1]
            inside.named, inside.count = False, inside.count + 1
            place = f"{inside.place}[{inside.count}]" if inside.is_array else inside.place
            continue
        if mark == ":":
            continue
        if mark in ("]", "}"):
            place, start = around[-1].place, around.pop().start
        elif around and not around[-1].is_array and not around[-1].named:
            around[-1].named = True
            place = f"{around[-1].place}.{json.loads(mark)}"
            continue
        last = token.end() - 1
        found[place] = line + bisect_left(breaks, start), line + bisect_left(breaks, last)
    return found


@dataclass(frozen=True, slots=True)
class Records:
    """The elements of the list of a JSON text: place, start and end of each.

    around: the text with a 0 in the place of each, on the same lines.
    """

    elements: tuple[tuple[str, int, int], ...]
    around: str


def records_of(text: str) -> Records | None:
    """The list at the root, or `records` of an object there; None where brackets do not match.

    Nothing is read of the elements, so that a broken one leaves the others alone.
    """
    opened: list[str] = []  # what closes each bracket that is open
    base, before = "", ""
    inside = 0  # how many brackets are open directly in the list; 0 before and after it
    found: list[tuple[str, int, int]] = []
    span: tuple[int, int] | None = None  # of the element that is being gone through
    for token in TOKEN.finditer(text):
        mark = token[0]
        if mark in CLOSES.values() and (not opened or opened.pop() != mark):
            return None
        named = not opened or (opened == ["}"] and before == '"records":')
        if mark == "[" and not base and named:
            base, inside = "$.records" if opened else "$", len(opened) + 1
        elif inside and len(opened) >= inside and (mark != "," or len(opened) > inside):
            span = (span[0] if span is not None else token.start(), token.end())
        elif inside:
            found += [(f"{base}[{len(found)}]", *span)] if span is not None else []
            span, inside = None, inside if mark == "," else 0
        opened += [CLOSES[mark]] if mark in CLOSES else []
        before = before + mark if mark == ":" else mark
    if opened or not base:
        return None
    parts, last = [], 0
    for _, start, end in found:
        parts += [text[last:start], "0", "\n" * text.count("\n", start, end)]
        last = end
    return Records(tuple(found), "".join([*parts, text[last:]]))
