"""One box over everything that can be found."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from knowledge.experience.wording import gain_words
from knowledge.lookup.listing import FilterError
from knowledge.search.aliases import FACETS
from knowledge.search.find import SearchResults, ask
from knowledge.search.find import search as find
from knowledge.search.query import parse_query
from knowledge.views import markdown
from knowledge.views.experience.search_page import FORMATS, search_page
from knowledge.views.tables import csv_answer

FEW, MANY = 10, 100  # hits of each section


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """`?q=` and the facets; `&format=json|csv|md` gives the same rows; 400 names what is wrong.

    `&n=100` asks for as many hits of each section in place of 10.
    """
    given = {name: _plain(request, name) for name in FACETS}
    text, file, asked = (_plain(request, name) for name in ("q", "format", "n"))
    try:
        if file and file not in FORMATS:
            raise FilterError("format", f"'{file[:80]}'; accepted: {', '.join(FORMATS)}")
        if asked not in ("", str(FEW), str(MANY)):
            raise FilterError("n", f"'{asked[:80]}'; accepted: {FEW}, {MANY}")
        found = find(ask(text, given), int(asked or FEW))
    except FilterError as error:
        return _refused(request, text, error, file)
    if file:
        return _file(found, file)
    context = search_page(found, asked if asked != str(FEW) else "")
    return render(request, "knowledge/experience/search.html", context)


def _plain(request: HttpRequest, name: str) -> str:
    # PostgreSQL refuses NUL in any text.
    return request.GET.get(name, "").replace("\0", "").strip()


def _refused(request: HttpRequest, text: str, error: FilterError, file: str) -> HttpResponse:
    if file == "json":
        return JsonResponse({"field": error.field, "message": error.message}, status=400)
    if file:
        said = f"{error.field}: {error.message}"
        return HttpResponse(said, content_type="text/plain; charset=utf-8", status=400)
    query = parse_query(text, {}, {})
    context = search_page(SearchResults(query)) | {"error": error}
    return render(request, "knowledge/experience/search.html", context, status=400)


def _file(found: SearchResults, file: str) -> HttpResponse:
    rows = found.records()
    if file == "csv":
        return csv_answer("search", tuple(rows[0]) if rows else (), rows)
    if file == "json":
        scope = {each.name: each.value for each in found.query.facets}
        return JsonResponse({"text": found.query.text, "scope": scope, "rows": rows})
    return _markdown(found, rows)


def _markdown(found: SearchResults, rows: list[dict[str, Any]]) -> HttpResponse:
    columns = ("Section", "Title", "Effect", "Tried", "Worked", "Text", "Link")
    table = markdown.table(columns, map(_line, rows))
    parts = (f"# Search: {markdown.plain(found.query.text)}", table or "Nothing was found.")
    return markdown.markdown_answer("search", parts)


def _line(row: dict[str, Any]) -> tuple[str, ...]:
    gain = row["gain"]
    ends = (row["gain_low"], row["gain_high"])
    return (
        row["section"].replace("_", " "),
        markdown.plain(row["title"] + (f" ({row['mark']})" if row["mark"] else "")),
        gain_words(gain, *ends) if gain is not None else "",
        "" if row["tried"] is None else str(row["tried"]),
        "" if row["worked"] is None else str(row["worked"]),
        markdown.plain(row["text"]),
        markdown.code(row["url"]),
    )
