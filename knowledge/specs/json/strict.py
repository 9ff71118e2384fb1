"""JSON text → values, strictly: bounded, nothing said twice, numbers as they are written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

MAX_BYTES = 10_000_000
MAX_DEPTH = 64
BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
LONGEST_WORDS = 1000  # characters of a message, in which a file may be quoted


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
