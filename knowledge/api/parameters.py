"""The parameters of an address: each once, known, bounded; and pages of a list."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request

from knowledge.lookup.listing import FilterError

LONGEST_PAGE = 500
LONGEST_PARAMETER = 500  # characters
MOST_DIGITS = 9
NUL = "\0"  # PostgreSQL compares no text with it


class Pages(PageNumberPagination):
    """`?page=`, and `?page_size=` from 1 to `LONGEST_PAGE`. FilterError for anything else."""

    page_size = 100

    def get_page_size(self, request: Request) -> int:
        size = number_at(request, "page_size", self.page_size)
        if not 1 <= size <= LONGEST_PAGE:
            raise FilterError("page_size", f"{size}; accepted: 1 to {LONGEST_PAGE}")
        return size

    def get_page_number(self, request: Request, paginator: Paginator[Any]) -> int:
        return number_at(request, "page", 1)


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
