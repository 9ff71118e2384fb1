"""What a request says: its parameters, and its body as JSON that every database can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import JSONParser
from rest_framework.request import Request

from knowledge.lookup.listing import FilterError
from knowledge.search.query import UNSTORABLE
from knowledge.specs.json_text import RecordError, load_strict

MOST_BYTES = 200_000
LONGEST_PARAMETER = 500  # characters
MOST_DIGITS = 9
NUL = "\0"  # PostgreSQL compares no text with it
FORMAT = "format"


class BadBody(ValueError):
    """A body that is no such JSON: `field` names the key that is wrong, or "body"."""

    def __init__(self, message: str, field: str = "body") -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class TooLarge(BadBody):
    """A body of more than `MOST_BYTES`."""


class Unmeasured(BadBody):
    """A body of unknown length (HTTP 411), which would be taken for none."""


def require_short(headers: Mapping[str, str]) -> None:
    """Look at a request's length before anything reads its body. Raises Unmeasured and TooLarge."""
    length = headers.get("Content-Length", "")
    if not length and headers.get("Transfer-Encoding"):
        raise Unmeasured("accepted: a body whose length is in the header Content-Length")
    if length.isdigit() and int(length) > MOST_BYTES:
        raise TooLarge(f"accepted: up to {MOST_BYTES:,} bytes")


class StrictJson(JSONParser):
    """JSON in UTF-8: each key once, finite numbers, no lone surrogates, no NUL characters.

    Raises BadBody and TooLarge.
    """

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        raw = stream.read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            raise TooLarge(f"accepted: up to {MOST_BYTES:,} bytes")
        try:
            found = load_strict(raw.decode())
        except RecordError as error:
            raise BadBody(str(error).removeprefix("$: "), error.key or "body") from error
        except ValueError as error:  # no UTF-8, or a number of thousands of digits
            raise BadBody(f"no JSON in UTF-8: {error}") from error
        _check_texts(found)
        return found


def _check_texts(found: Any, field: str = "body") -> None:
    """Refuse texts that UTF-8 or PostgreSQL cannot hold, at the outermost key around them."""
    if isinstance(found, str):
        if UNSTORABLE.search(found):
            raise BadBody("accepted: text without NUL characters and lone surrogates", field)
    elif isinstance(found, dict):
        for key, value in found.items():
            _check_texts(key, field)
            _check_texts(value, key if field == "body" else field)
    elif isinstance(found, list):
        for value in found:
            _check_texts(value, field)


def number_at(request: Request, name: str, default: int) -> int:
    """The number that a parameter holds. FilterError for what is none."""
    asked = request.query_params.get(name, str(default))
    if not (asked.isascii() and asked.isdigit() and len(asked) <= MOST_DIGITS):
        raise FilterError(name, f"'{asked}'; accepted: a number from 1")
    return int(asked)


def parameters(request: Request, accepted: tuple[str, ...]) -> dict[str, str]:
    """The parameters of an address. FilterError for one that is unknown, empty or given twice."""
    found: dict[str, str] = {}
    for name, values in request.query_params.lists():
        if name not in accepted:
            raise FilterError(name, f"unknown parameter; accepted: {', '.join(accepted)}")
        if len(values) != 1 or not values[0] or NUL in values[0]:
            raise FilterError(name, "accepted: one value, not empty, without NUL characters")
        if len(values[0]) > LONGEST_PARAMETER:
            raise FilterError(name, f"accepted: up to {LONGEST_PARAMETER} characters")
        found[name] = values[0]
    return found
