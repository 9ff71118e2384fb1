"""Files that a browser saves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpRequest, HttpResponse

from campaigns.reports.tables import as_csv

if TYPE_CHECKING:
    from pandas import DataFrame

ZIP = "application/zip"


def download(content: bytes | str, name: str, content_type: str | None = None) -> HttpResponse:
    """A file under this name, which no foreign text may be in: it goes into a header."""
    response = HttpResponse(content, content_type=content_type)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def wants_csv(request: HttpRequest) -> bool:
    """Whether the address asks for the table instead of the page."""
    return request.GET.get("format") == "csv"


def csv(table: DataFrame, name: str) -> HttpResponse:
    """A table as a file, with every row and all digits."""
    return download(as_csv(table), f"{name}.csv", "text/csv; charset=utf-8")
