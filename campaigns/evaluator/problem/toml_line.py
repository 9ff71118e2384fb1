"""Which line of a problem.toml an error speaks of."""

from __future__ import annotations

import re

# As `load_problem` names a place: `problem.toml: [[case]] 2: params: …`.
PLACE = re.compile(r"(?:[^:]*/)?problem\.toml: (?:(\[+[\w.]+\]+)(?: (\d+))?:? ?)?(\w+)?")


def with_line(message: str, text: str) -> str:
    """The message with the line of the key or the table that it names, where `text` has it."""
    found = PLACE.match(message)
    if found is None:
        return message
    table, number, key = found.groups()
    lines = text.splitlines()
    first = 0
    if table:
        heads = [place for place, line in enumerate(lines, 1) if line.strip() == table]
        if len(heads) < int(number or 1):
            return message
        first = heads[int(number or 1) - 1]
    line = _line_of(key, lines, first) or first
    return message.replace("problem.toml:", f"problem.toml, line {line}:", 1) if line else message


def _line_of(key: str | None, lines: list[str], first: int) -> int:
    """The line of a key of the table that begins after line `first`; 0 where it has none."""
    for place, line in enumerate(lines[first:], first + 1):
        if line.lstrip().startswith("["):
            break
        if key and re.match(rf"\s*{key}\s*=", line):
            return place
    return 0
