"""JSON text → values, strictly: bounded, nothing said twice, numbers as they are written."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
MAX_BYTES = 10_000_000
MAX_DEPTH = 64
BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
LONGEST_WORDS = 1000  # characters of a message, in which a file may be quoted


@dataclass(slots=True)
class _Open:
    """An object or array that has not ended yet."""

    place: str
    is_array: bool
    start: int
    count: int = 0
    named: bool = False  # whether the next scalar of an object is a value rather than a name


def value_lines(text: str) -> dict[str, tuple[int, int]]:
    """Path (`$.facts[0].value`) → first and last line, from 1, of every value of a valid text."""
    breaks = [found.start() for found in re.finditer("\n", text)]
    spans = value_spans(text).items()
    return {
        place: (bisect_left(breaks, start) + 1, bisect_left(breaks, end - 1) + 1)
        for place, (start, end) in spans
    }


def value_spans(text: str) -> dict[str, tuple[int, int]]:
    """Path → where every value of a valid text begins, and the character after its end."""
    found: dict[str, tuple[int, int]] = {}
    around: list[_Open] = []
    place = "$"
    for token in TOKEN.finditer(text):
        mark = token[0]
        if mark in ("{", "["):
            around.append(_Open(place, mark == "[", token.start()))
            place = f"{place}[0]" if mark == "[" else place
        elif mark in ("}", "]"):
            ended = around.pop()
            place = ended.place
            found[place] = (ended.start, token.end())
        elif mark == ",":
            place = _next(around[-1])
        elif mark != ":" and around and not around[-1].is_array and not around[-1].named:
            around[-1].named = True
            place = f"{around[-1].place}.{json.loads(mark)}"
        elif mark != ":":
            found[place] = token.span()
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
    found = _Elements()
    for token in TOKEN.finditer(text):
        if not found.take(token[0], token.start(), token.end()):
            return None
    if found.opened or not found.is_list:
        return None
    parts, last = [], 0
    for _, start, end in found.spans:
        parts += [text[last:start], "0", "\n" * text.count("\n", start, end)]
        last = end
    return Records(tuple(found.spans), "".join([*parts, text[last:]]))


class _Elements:
    """Goes through the tokens of a text, and notes where the elements of its list are."""

    CLOSES = {"[": "]", "{": "}"}

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.inside = 0  # how many brackets are open directly in the list; 0 before and after it
        self.is_list = False
        self.base = "$"
        self.spans: list[tuple[str, int, int]] = []
        self.span: tuple[int, int] | None = None  # of the element that is being gone through
        self.before = ""

    def take(self, mark: str, start: int, end: int) -> bool:
        """Whether the brackets match so far."""
        if mark in self.CLOSES:
            if not self._begins(mark):
                self._stretch(start, end)
            self.opened.append(mark)
        elif mark in ("]", "}"):
            if not self.opened or self.CLOSES[self.opened.pop()] != mark:
                return False
            if self.inside and len(self.opened) < self.inside:
                self._end()
                self.inside = 0
            else:
                self._stretch(start, end)
        elif mark == "," and len(self.opened) == self.inside:
            self._end()
        else:
            self._stretch(start, end)
        self.before = self.before + mark if mark == ":" else mark
        return True

    def _begins(self, mark: str) -> bool:
        """Whether this bracket opens the list."""
        at_root = not self.opened
        named = self.opened == ["{"] and self.before == '"records":'
        if self.is_list or mark != "[" or not (at_root or named):
            return False
        self.is_list, self.inside = True, len(self.opened) + 1
        self.base = "$" if at_root else "$.records"
        return True

    def _stretch(self, start: int, end: int) -> None:
        if self.inside and len(self.opened) >= self.inside:
            self.span = (self.span[0] if self.span is not None else start, end)

    def _end(self) -> None:
        if self.span is not None:
            self.spans.append((f"{self.base}[{len(self.spans)}]", *self.span))
        self.span = None


def _next(inside: _Open) -> str:
    inside.named = False
    inside.count += 1
    return f"{inside.place}[{inside.count}]" if inside.is_array else inside.place


def line_of(text: str, place: str) -> int:
    """The line of a path, or of what is nearest around it; 1 where the text is no JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return 1
    lines = value_lines(text)
    while place and place not in lines:
        place = place[: max(place.rfind("."), place.rfind("["), 0)]
    return lines[place][0] if place else 1


class RecordError(ValueError):
    """A JSON file that cannot be read; the message starts with the JSON path.

    key: the name that is wrong, where one is.
    """

    def __init__(self, message: str, key: str = "") -> None:
        super().__init__(printable(message))
        self.key = key


class JsonNumber(str):
    """A JSON number as written: a float would turn 989.40 into 989.4 and lose long ones."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Node:
    """One value and its place, `$.facts.memory.capacity_gb` or `$[3]`."""

    place: str
    value: Any

    def error(self, message: str) -> RecordError:
        return RecordError(f"{self.place}: {message}")

    def fields(self, accepted: tuple[str, ...] | None = None) -> dict[str, Node]:
        """The fields of an object; null counts as not given. Others than `accepted` are refused."""
        if not isinstance(self.value, dict):
            raise self.error(f"{_kind(self.value)} is not accepted; accepted: an object")
        for name in self.value:
            if accepted is not None and name not in accepted:
                raise Node(f"{self.place}.{name}", None).error(
                    f"unknown field; accepted: {', '.join(accepted)}"
                )
        return {name: Node(f"{self.place}.{name}", each) for name, each in self.value.items()}

    def items(self) -> list[Node]:
        """The elements of an array."""
        if not isinstance(self.value, list):
            raise self.error(f"{_kind(self.value)} is not accepted; accepted: an array")
        return [Node(f"{self.place}[{n}]", each) for n, each in enumerate(self.value)]

    def text(self) -> str:
        """A string that says something, on one line and without outer blanks."""
        if not isinstance(self.value, str) or isinstance(self.value, JsonNumber):
            raise self.error(f"{_kind(self.value)} is not accepted; accepted: a string")
        if not self.value.strip():
            raise self.error("an empty string; accepted: a string that says something")
        return " ".join(self.value.split())


def parse_json(text: str) -> Node:
    """Read a JSON text of at most 10 MB, its numbers as written; see `load_strict`."""
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise RecordError(f"$: more than {MAX_BYTES} bytes; accepted are at most that many")
    return Node("$", load_strict(text, number=JsonNumber))


def load_strict(text: str, *, number: Callable[[str], Any] | None = None) -> Any:
    """Read a JSON text; RecordError where it is not strict JSON.

    Refused are NaN and infinities, a name given twice in one object, and deep nesting. number: what
    makes a value of a number as written; else int and float.
    """
    if _depth(text) > MAX_DEPTH:
        raise RecordError(f"$: nested too deep; accepted are at most {MAX_DEPTH} levels")
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
        raise RecordError(f"$: no JSON at {place}: {error.msg}") from error


def printable(text: str) -> str:
    """The text as a page and both databases can hold it: short, without control characters."""
    if len(text) > LONGEST_WORDS:
        # What is accepted stands at the end.
        text = f"{text[: LONGEST_WORDS // 3]} … {text[-LONGEST_WORDS // 2 :]}"
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


def _depth(text: str) -> int:
    depth = deepest = 0
    for found in BRACKETS.finditer(text):
        if found[0] in ("[", "{"):
            depth += 1
            deepest = max(deepest, depth)
        elif found[0] in ("]", "}"):
            depth -= 1
    return deepest


def _constant(name: str) -> NoReturn:
    raise RecordError(f"$: {name} is no JSON number; accepted: null or a finite number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        message = f"$: the name '{twice}' stands twice in one object; accepted: once"
        raise RecordError(message, twice)
    return found


def _kind(value: Any) -> str:
    kinds = {JsonNumber: "a number", str: "a string", bool: "true or false", list: "an array"}
    return kinds.get(type(value), "null" if value is None else "an object")
