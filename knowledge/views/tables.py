"""Rows as a CSV file, or as Markdown that reads as well on GitHub with the lines it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.http import HttpResponse, JsonResponse

from knowledge.exchange.writers.markdown import citations, code, joined, plain, table

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["citations", "code", "plain", "table"]

FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def csv_answer(
    name: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]
) -> HttpResponse:
    """A download called `name`.csv; what a row has beside the columns is left out."""
    import pandas  # half a second, which no other page waits for

    # As objects: numbers keep all their digits, and whole ones stay whole beside empty cells.
    return table_answer(name, pandas.DataFrame(list(rows), columns=list(columns), dtype=object))


def table_answer(name: str, rows: DataFrame) -> HttpResponse:
    """The same of a table: all digits, whole numbers stay whole, and no text is a formula."""
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    rows.convert_dtypes().map(_harmless).to_csv(response, index=False, lineterminator="\n")
    return response


def _harmless(cell: Any) -> Any:
    """Text that a spreadsheet would run as a formula, with an apostrophe before it."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULAS) else cell


def refusal(errors: Mapping[str, str], ending: str) -> HttpResponse:
    """What is wrong with the address of a file, by parameter; JSON for a JSON file."""
    if ending == "json":
        return JsonResponse({"errors": errors}, status=400)
    words = "\n".join(f"{name}: {message}" for name, message in errors.items())
    return HttpResponse(words, content_type="text/plain; charset=utf-8", status=400)


def markdown_answer(name: str, parts: Iterable[str]) -> HttpResponse:
    """A file called `name`.md of these parts, an empty line between each two."""
    answer = HttpResponse(joined(parts), content_type="text/markdown; charset=utf-8")
    answer["Content-Disposition"] = f'inline; filename="{name}.md"'
    return answer
