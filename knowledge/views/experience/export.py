"""What was learned as a file: JSON and CSV that import again, and Markdown for people."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from knowledge.experience.writers.selection import Selection
from knowledge.experience.writers.texts import csv_text, json_text, markdown_text
from knowledge.lookup.listing import FilterError
from knowledge.views.refusals import refused


@require_safe
def export_json(request: HttpRequest) -> HttpResponse:
    """All of it, or of `?op=&backend=&platform=` and what else `Selection` takes."""
    return _file(request, json_text, "json", "application/json")


@require_safe
def export_csv(request: HttpRequest) -> HttpResponse:
    """The attempts of it, a row each."""

    def write(selection: Selection) -> str:
        return csv_text(selection.entries().order_by("pk"))

    return _file(request, write, "csv", "text/csv; charset=utf-8")


@require_safe
def export_md(request: HttpRequest) -> HttpResponse:
    """The same as a page to read."""
    return _file(request, markdown_text, "md", "text/markdown; charset=utf-8")


def _file(
    request: HttpRequest, write: Callable[[Selection], str], ending: str, kind: str
) -> HttpResponse:
    names = Selection.names()
    try:
        selection = Selection(**{name: request.GET.get(name, "") for name in names})
    except FilterError as error:
        return refused(request, error, status=400)
    answer = HttpResponse(write(selection), content_type=kind)
    answer["Content-Disposition"] = f'attachment; filename="experience.{ending}"'
    return answer
