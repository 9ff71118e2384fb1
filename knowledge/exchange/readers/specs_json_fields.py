"""Single fields of specs.json. RecordError names the place of one that is not accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from knowledge.specs.citation import MAX_PATH, CitationError, check_path
from knowledge.specs.json_text import JsonNumber, Node, RecordError

Fields = Mapping[str, Node]

YEARS = range(1970, 9999)  # of a time, in UTC
LONGEST_TIME = 40  # characters that a message repeats
LONGEST_NAME = 150  # characters of a user name


def items(fields: Fields, name: str) -> list[Node]:
    """The items of a list; none where it is not there."""
    return fields[name].items() if name in fields else []


def all_of(node: Node, names: tuple[str, ...]) -> dict[str, Node]:
    """All of these fields, and no others."""
    fields = node.fields(names)
    missing = [name for name in names if name not in fields]
    if missing:
        raise node.error(f"{', '.join(missing)} missing; accepted are all of: {', '.join(names)}")
    return fields


def string(node: Node, most: int | None = None) -> str:
    """A text of at most so many characters."""
    if not isinstance(node.value, str) or isinstance(node.value, JsonNumber):
        raise node.error("accepted: a string")
    if most is not None and len(node.value) > most:
        raise node.error(f"{len(node.value)} characters; accepted: at most {most}")
    return clean(node.value, node)


def clean(text: str, node: Node) -> str:
    """The text itself, which both databases must be able to store."""
    if "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise node.error("a NUL or half of a surrogate pair; accepted: Unicode text without")
    return text


def document_path(node: Node) -> str:
    """The path of a document, which may be stored and written into a folder."""
    try:
        return check_path(string(node, MAX_PATH))
    except CitationError as error:
        raise node.error(str(error)) from error


def one_of(node: Node, accepted: Sequence[str]) -> str:
    """One of these words."""
    text = string(node)
    if text not in accepted:
        raise node.error(f"'{text}'; accepted: {', '.join(filter(None, accepted))}")
    return text


def user_name(node: Node) -> str:
    """The name of a user of another installation, "" for a command."""
    return string(node, LONGEST_NAME)


class NoTime(RecordError):
    """A time that cannot be told; its value is not taken, and the others are."""


def moment(node: Node) -> str:
    """A time with its zone, as it stands there. Raises NoTime."""
    text = node.value if isinstance(node.value, str) else ""
    try:
        at = datetime.fromisoformat(text)
        told = at.tzinfo is not None and at.astimezone(UTC).year in YEARS
    except (ValueError, OverflowError):
        told = False
    if not told:
        accepted = "accepted: a time such as 2026-01-31T12:00:00+00:00"
        raise NoTime(f"{node.place}: {text[:LONGEST_TIME]!r}; {accepted}")
    return text


def flag(node: Node) -> bool:
    """True or false."""
    if not isinstance(node.value, bool):
        raise node.error("accepted: true or false")
    return node.value


def two_lines(node: Node) -> tuple[int, int]:
    """The first and the last line."""
    lines = [count(each) for each in node.items()]
    if len(lines) != 2:
        raise node.error("accepted: the first and the last line")
    return lines[0], lines[1]


def count(node: Node) -> int:
    """A whole number from 1, of at most nine digits."""
    digits = isinstance(node.value, JsonNumber) and node.value.isdecimal() and len(node.value) < 10
    if not digits or not int(node.value):
        raise node.error("accepted: a whole number from 1")
    return int(node.value)
