"""The parameters of an address: each once, known, bounded."""

from __future__ import annotations

from rest_framework.request import Request

from knowledge.lookup.listing import FilterError

LONGEST_PARAMETER = 500  # characters
MOST_DIGITS = 9
NUL = "\0"  # PostgreSQL compares no text with it
FORMAT = "format"


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
