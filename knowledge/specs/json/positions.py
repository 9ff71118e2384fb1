"""Where each value of a JSON text stands: its JSON path → its lines, so that it can be cited."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from dataclasses import dataclass

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


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
