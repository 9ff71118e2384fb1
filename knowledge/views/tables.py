"""Rows as a CSV file, values to full precision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.http import HttpResponse

FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def csv_answer(
    name: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]
) -> HttpResponse:
    """A download called `name`.csv; what a row has beside the columns is left out."""
    import pandas  # half a second, which no other page waits for

    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    # As objects: numbers keep all their digits, and whole ones stay whole beside empty cells.
    table = pandas.DataFrame(list(rows), columns=list(columns), dtype=object)
    table.map(_harmless).to_csv(response, index=False, lineterminator="\r\n")
    return response


def _harmless(cell: Any) -> Any:
    """Text that a spreadsheet would run as a formula, with an apostrophe before it."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULAS) else cell


def qualifier_words(qualifiers: Mapping[str, str]) -> str:
    """Qualifiers in one cell: "cache=cold dtype=float32"."""
    return " ".join(f"{key}={value}" for key, value in qualifiers.items())
