"""What gives a line of a JSON text its meaning: the keys above it, and what names its object.

`"dense": 1979,` says nothing alone: the product, the data type and the unit stand on other lines.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from knowledge.specs.json_text import TOKEN

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
                top = _read(top, token[0], number, len(lines))

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


def _read(top: _Node, mark: str, line: int, end: int) -> _Node:
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
