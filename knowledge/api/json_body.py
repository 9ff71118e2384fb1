"""Request bodies as JSON that every database and every answer can hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import JSONParser

MOST_BYTES = 200_000


class BadBody(ValueError):
    """A body that is no such JSON: `field` names the key that is wrong, or "body"."""

    def __init__(self, message: str, field: str = "body") -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class TooLarge(BadBody):
    """A body of more than `MOST_BYTES`."""


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
            found = json.loads(raw.decode(), object_pairs_hook=_each_once, parse_constant=_refuse)
            _check_texts(found)
        except BadBody:
            raise
        except RecursionError:
            raise BadBody("nested too deeply; accepted: one JSON object") from None
        except ValueError as error:  # no UTF-8, no JSON, or a number of thousands of digits
            raise BadBody(f"no JSON in UTF-8: {error}") from error
        return found


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadBody("stands twice; accepted: each key once", twice)
    return found


def _refuse(constant: str) -> Any:
    raise BadBody(f"{constant} is no number; accepted: finite numbers")


def _check_texts(found: Any, field: str = "body") -> None:
    """Refuse texts that UTF-8 or PostgreSQL can not hold, at the outermost key around them."""
    if isinstance(found, str):
        if "\0" in found or not _encodes(found):
            raise BadBody("accepted: text without NUL characters and lone surrogates", field)
    elif isinstance(found, dict):
        for key, value in found.items():
            _check_texts(key, field)
            _check_texts(value, key if field == "body" else field)
    elif isinstance(found, list):
        for value in found:
            _check_texts(value, field)


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
