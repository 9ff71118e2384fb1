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
