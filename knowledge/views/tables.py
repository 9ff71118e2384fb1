"""Rows as a CSV file, values to full precision."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.http import HttpResponse

FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def csv_answer(
    name: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]
) -> HttpResponse:
    """A download called `name`.csv; what a row has beside the columns is left out."""
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    writer = csv.DictWriter(response, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows({name: _harmless(cell) for name, cell in row.items()} for row in rows)
    return response


def _harmless(cell: Any) -> Any:
    """Text that a spreadsheet would run as a formula, with an apostrophe before it."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULAS) else cell


def qualifier_words(qualifiers: Mapping[str, str]) -> str:
    """Qualifiers in one cell: "cache=cold dtype=float32"."""
    return " ".join(f"{key}={value}" for key, value in qualifiers.items())
