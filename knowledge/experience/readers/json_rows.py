"""PURE: the objects of a JSON text, each field typed and bounded, each fault with its line."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from knowledge.exchange.formats import Format
from knowledge.experience.readers.drafts import Read, ReadRefused
from knowledge.specs.json_text import JsonNumber, Node, RecordError, parse_json, value_lines

LONGEST_TEXT = 20_000  # characters of one field
LARGEST = 2**31 - 1  # of a count, as a column holds it
MOST_PART = 2_000  # characters of a text inside a list or an object

Lines = Mapping[str, tuple[int, int]]


class JsonRow:
    """One object of a JSON text."""

    def __init__(self, node: Node, lines: Lines) -> None:
        self.node, self.lines = node, lines
        try:
            self.fields = node.fields()
        except RecordError as error:
            raise ReadRefused(self.line, "", _message(error)) from error

    @property
    def line(self) -> int:
        return _line(self.lines, self.node.place)

    def only(self, *accepted: str) -> None:
        """Refuse a field that nothing reads."""
        for name in self.fields:
            if name not in accepted:
                self.refuse(name, f"unknown field; accepted: {', '.join(accepted)}")

    def refuse(self, name: str, message: str) -> None:
        raise ReadRefused(_line(self.lines, f"{self.node.place}.{name}"), name, message)

    def text(self, name: str, most: int = LONGEST_TEXT) -> str:
        """A text of a field; "" where it is null or not there."""
        found = self.fields.get(name)
        if found is None or found.value is None:
            return ""
        if not isinstance(found.value, str) or isinstance(found.value, JsonNumber):
            self.refuse(name, "accepted: a text")
        self._storable(name, found.value)
        if len(found.value) > most:
            self.refuse(name, f"{len(found.value)} characters; accepted: at most {most}")
        return str(found.value)

    def number(self, name: str) -> float | None:
        """A finite number; None where it is null or not there."""
        found = self.fields.get(name)
        if found is None or found.value is None:
            return None
        if not isinstance(found.value, JsonNumber):
            self.refuse(name, "accepted: a number or null")
        value = float(found.value)
        if not math.isfinite(value):
            self.refuse(name, "accepted: a finite number")
        return value

    def count(self, name: str) -> int | None:
        value = self.number(name)
        if value is not None and (value != int(value) or not 0 <= value <= LARGEST):
            self.refuse(name, f"accepted: a whole number from 0 to {LARGEST}")
        return None if value is None else int(value)

    def flag(self, name: str) -> bool:
        found = self.fields.get(name)
        if found is None or found.value is None:
            return False
        if not isinstance(found.value, bool):
            self.refuse(name, "accepted: true or false")
        return bool(found.value)

    def one_of(self, name: str, accepted: tuple[str, ...], default: str = "") -> str:
        value = self.text(name).strip() or default
        if value not in accepted:
            self.refuse(name, f"'{value[:60]}'; accepted: {', '.join(accepted)}")
        return value

    def uuid(self, name: str) -> str:
        value = self.text(name, 60).strip()
        try:
            return str(UUID(value)) if value else ""
        except ValueError:
            self.refuse(name, f"'{value}'; accepted: a UUID")
        return ""

    def moment(self, name: str) -> datetime.datetime | None:
        """A date or a time; UTC where it names no zone."""
        value = self.text(name, 60).strip()
        if not value:
            return None
        try:
            found = datetime.datetime.fromisoformat(value)
        except ValueError:
            self.refuse(name, f"'{value}'; accepted: a date such as 2026-05-10, or a time")
        return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)

    def row(self, name: str) -> JsonRow:
        """The object of a field; an empty one where it is null or not there."""
        found = self.fields.get(name)
        if found is None or found.value is None:
            found = Node(f"{self.node.place}.{name}", {})
        return JsonRow(found, self.lines)

    def rows(self, name: str) -> list[JsonRow]:
        """The objects of a list; none where it is null or not there."""
        return [JsonRow(node, self.lines) for node in self._items(name)]

    def plain(self, name: str, kind: type[list[Any]] | type[dict[str, Any]]) -> Any:
        """A list or an object as plain values, its numbers as numbers."""
        found = self.fields.get(name)
        if found is None or found.value is None:
            return kind()
        if not isinstance(found.value, kind):
            self.refuse(name, f"accepted: {'a list' if kind is list else 'an object'}")
        return self._plain(name, found.value)

    def texts(self, name: str) -> list[str]:
        found = self.plain(name, list)
        if not all(isinstance(each, str) for each in found):
            self.refuse(name, "accepted: a list of texts")
        return list(found)

    def _items(self, name: str) -> list[Node]:
        found = self.fields.get(name)
        if found is None or found.value is None:
            return []
        try:
            return found.items()
        except RecordError as error:
            raise ReadRefused(_line(self.lines, found.place), name, _message(error)) from error

    def _plain(self, name: str, value: Any) -> Any:
        if isinstance(value, JsonNumber):
            number = float(value)
            if not math.isfinite(number):
                self.refuse(name, "accepted: finite numbers")
            return int(value) if value.lstrip("-").isdigit() else number
        if isinstance(value, dict):
            return {self._plain(name, k): self._plain(name, v) for k, v in value.items()}
        if isinstance(value, list):
            return [self._plain(name, each) for each in value]
        if isinstance(value, str):
            self._storable(name, value)
            if len(value) > MOST_PART:
                self.refuse(name, f"a text of {len(value)} characters; accepted: {MOST_PART}")
        return value

    def _storable(self, name: str, value: str) -> None:
        if "\0" in value:
            self.refuse(name, "it holds a NUL character; accepted: text without")
        if any("\ud800" <= sign <= "\udfff" for sign in value):
            self.refuse(name, "it holds half of a surrogate pair; accepted: Unicode text")


def json_root(text: str) -> tuple[Node, Lines]:
    """The value of a JSON text and the lines of all values. ReadRefused where it is no JSON."""
    try:
        node = parse_json(text)
    except (RecordError, RecursionError) as error:
        raise ReadRefused(_fault_line(str(error)), "", _message(error)) from error
    return node, value_lines(text)


@dataclass(frozen=True)
class GivenFile:
    """A file of an import, as every format looks at it."""

    path: str
    text: str

    @property
    def name(self) -> str:
        return PurePosixPath(self.path).name

    @cached_property
    def json(self) -> tuple[Node, Lines]:
        """The value of a JSON text and the lines of all values. Raises ReadRefused."""
        return json_root(self.text)

    @property
    def value(self) -> Any:
        """What a .json file holds; None for any other. Raises ReadRefused."""
        return self.json[0].value if self.name.endswith(".json") else None

    def each(self, nodes: Iterable[Node], read: Callable[[str, JsonRow], Read]) -> Iterator[Read]:
        """What `read` makes of each object; in the place of one that cannot be read, why."""
        for node in nodes:
            try:
                yield read(self.path, JsonRow(node, self.json[1]))
            except ReadRefused as refused:
                yield refused


# Each reader of this folder adds its own.
FORMATS: list[Format[GivenFile, Iterator[Read]]] = []


def _line(lines: Lines, place: str) -> int:
    while place and place not in lines:
        place = place[: max(place.rfind("."), place.rfind("["), 0)]
    return lines[place][0] if place else 1


def _message(error: Exception) -> str:
    return str(error).partition(": ")[2] or str(error)


def _fault_line(message: str) -> int:
    """The line that a message of the parser names."""
    words = message.split()
    at = words.index("line") + 1 if "line" in words else 0
    return int(words[at]) if at and at < len(words) and words[at].isdigit() else 1
