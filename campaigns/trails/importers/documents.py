"""JSON and YAML with the line of every value; strict, bounded, and nothing of it is ever run."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from campaigns.trails.importers.claims import Claim, TrailRefused, Value, refused
from knowledge.specs.json_text import MAX_DEPTH, JsonNumber, RecordError, parse_json, value_lines

# What Python writes for numbers that JSON does not have.
NO_NUMBER = re.compile(r"(?<![\w\"])-?(?:NaN|Infinity)\b")
AT_LINE = re.compile(r"\bline (\d+)")
LONGEST_INTEGER = 18
ELEMENT = re.compile(r"\[(\d+)\]\.?(.*)")
SCALARS = ("int", "float", "bool", "null")
TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class LinedDocument:
    """One file of named values. lines: place (`a.b[0].c`) → its line, from 1."""

    path: str
    value: Any
    lines: dict[str, int]

    def line(self, place: str) -> int:
        """Where a value stands, or what is nearest around it."""
        while place and place not in self.lines:
            place = place.rpartition(".")[0]
        return self.lines.get(place, 1)

    def get(self, place: str) -> Any:
        """The value at a dotted place; None where there is none."""
        found = self.value
        for name in place.split("."):
            if not isinstance(found, dict):
                return None
            found = found.get(name)
        return found

    def text(self, place: str) -> str:
        """A text, empty where it is missing. A number is taken as it is written."""
        found = self.get(place)
        if found is None:
            return ""
        if isinstance(found, (dict, list, bool)):
            raise self.error(place, "a text or null")
        return str(found).strip()

    def number(self, place: str) -> int | float | None:
        """A number; None where it is null or not there."""
        found = self.get(place)
        if found is None or (isinstance(found, (int, float)) and not isinstance(found, bool)):
            return found
        raise self.error(place, "a number or null")

    def flag(self, place: str) -> bool | None:
        """True or false; None where it is not there."""
        found = self.get(place)
        if found is None or isinstance(found, bool):
            return found
        raise self.error(place, "true or false")

    def word(self, place: str, accepted: tuple[str, ...]) -> str:
        """One of some words, empty where it is missing."""
        found = self.text(place)
        if found and found not in accepted:
            raise self.error(place, ", ".join(accepted))
        return found

    def list(self, place: str) -> list[Any]:
        """A list of objects, empty where it is missing."""
        found = self.get(place)
        if found is None:
            return []
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise self.error(place, "a list of objects")
        return found

    def part(self, place: str, index: int) -> LinedDocument:
        """One element of a list, with the lines of its own values."""
        inner = f"{place}[{index}]"
        lines = {
            name[len(inner) :].lstrip("."): line
            for name, line in self.lines.items()
            if name == inner or name.startswith((f"{inner}.", f"{inner}["))
        }
        return LinedDocument(self.path, self.get(place)[index], lines)

    def error(self, place: str, accepted: str) -> TrailRefused:
        """The refusal of what stands at a place."""
        return refused(self.path, self.line(place), f"{place}: {self.get(place)!r}", accepted)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Every value in it that says something, each with its line."""
        return tuple(
            Claim(place, value, self.path, self.line(place))
            for place, value in _leaves("", self.value)
        )


def read_json(path: str, text: str) -> LinedDocument:
    """A JSON object. Raises TrailRefused."""
    value, lines = _parsed(path, text)
    if not isinstance(value, dict):
        raise refused(path, 1, "the file holds no object", "a JSON object")
    return LinedDocument(path, value, lines)


def read_json_records(path: str, text: str) -> list[LinedDocument]:
    """A JSON list of objects, each with the lines of its own values. Raises TrailRefused."""
    value, lines = _parsed(path, text)
    if not isinstance(value, list):
        raise refused(path, 1, "the file holds no list", "a JSON list of objects")
    own: list[dict[str, int]] = [{} for _ in value]
    for place, line in lines.items():
        found = ELEMENT.fullmatch(place)
        if found:
            own[int(found[1])][found[2]] = line
    for index, each in enumerate(value):
        if not isinstance(each, dict):
            raise refused(path, own[index].get("", 1), f"entry {index + 1}", "a JSON object")
    return [LinedDocument(path, each, places) for each, places in zip(value, own, strict=True)]


def _parsed(path: str, text: str) -> tuple[Any, dict[str, int]]:
    """The value of a JSON file, and its places with their lines."""
    try:
        value = _plain(path, parse_json(text).value)
    except RecordError as error:
        said, odd, at = str(error), NO_NUMBER.search(text), AT_LINE.search(str(error))
        line = int(at[1]) if at else text.count("\n", 0, odd.start()) + 1 if odd else 1
        raise refused(path, line, said, "strict JSON") from None
    return value, {place[1:].lstrip("."): span[0] for place, span in value_lines(text).items()}


def read_yaml(path: str, text: str) -> LinedDocument:
    """A YAML mapping of plain values: no aliases, no tags, nothing that makes objects."""
    lines: dict[str, int] = {}
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                line = event.start_mark.line + 1 if event.start_mark else 1
                raise refused(path, line, "an alias", "values written out")
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        value = {} if node is None else _node(path, node, loader, "", lines)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise refused(path, line, f"no YAML: {error.problem}", "a YAML mapping") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        if isinstance(error, TrailRefused):
            raise
        raise refused(path, 1, f"no YAML: {type(error).__name__}", "a YAML mapping") from None
    if not isinstance(value, dict):
        raise refused(path, 1, "the file holds no mapping", "a YAML mapping")
    return LinedDocument(path, value, lines)


def _plain(path: str, value: Any) -> Any:
    """Numbers as Python has them; the JSON reader keeps them as texts."""
    if isinstance(value, JsonNumber):
        whole = value.lstrip("+-").isdigit() and len(value) <= LONGEST_INTEGER
        number = int(value) if whole else float(value)
        if not math.isfinite(number):
            raise refused(path, 1, f"{value[:40]}: no finite number", "a finite number or null")
        return number
    if isinstance(value, dict):
        return {name: _plain(path, each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(path, each) for each in value]
    if isinstance(value, str):
        require_storable(path, 1, value)
    return value


def require_storable(path: str, line: int, text: str) -> None:
    """Escapes can make what no database keeps: NUL, and halves of characters."""
    if "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise refused(path, line, f"{text[:40]!a}: NUL or half a character", "UTF-8 text")


def _node(path: str, node: Any, loader: Any, place: str, lines: dict[str, int]) -> Any:
    line = node.start_mark.line + 1
    lines[place] = line
    if place.count(".") + place.count("[") > MAX_DEPTH:
        raise refused(path, line, "nested too deep", f"at most {MAX_DEPTH} levels")
    if not node.tag.startswith(TAG) or "python" in node.tag:
        raise refused(path, line, f"{place or 'the file'}: the tag {node.tag}", "plain values")
    if isinstance(node, yaml.SequenceNode):
        parts = enumerate(node.value)
        return [_node(path, each, loader, f"{place}[{n}]", lines) for n, each in parts]
    if isinstance(node, yaml.MappingNode):
        return _mapping(path, node, loader, place, lines)
    if node.tag.removeprefix(TAG) not in SCALARS:
        require_storable(path, line, node.value)
        return node.value
    value = loader.construct_object(node)
    if isinstance(value, float) and not math.isfinite(value):
        raise refused(path, line, f"{place}: {node.value}", "a finite number or null")
    return value


def _mapping(path: str, node: Any, loader: Any, place: str, lines: dict[str, int]) -> Any:
    found: dict[str, Any] = {}
    for key, each in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise refused(path, line, "a name that is no text", "texts as names")
        if key.value in found:
            raise refused(path, line, f"{key.value}: stands twice", "each name once")
        inner = f"{place}.{key.value}" if place else str(key.value)
        found[key.value] = _node(path, each, loader, inner, lines)
    return found


def _leaves(place: str, value: Any) -> Iterator[tuple[str, Value]]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _leaves(f"{place}.{name}" if place else str(name), each)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _leaves(f"{place}[{index}]", each)
    elif value is not None and value != "":
        yield place, value
