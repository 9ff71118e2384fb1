"""`?format=` of every page: the rows that it lists, or the record that it shows, as a file.

JSON is the API's own record of each, CSV the same as a pandas table, Markdown a short table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from rest_framework.renderers import JSONRenderer
from rest_framework.serializers import Serializer

from knowledge.api.lists import columns_of
from knowledge.api.problems import ProblemRenderer, refusal_record
from knowledge.exchange.writers.markdown import link
from knowledge.lookup.listing import FilterError
from knowledge.views.tables import csv_answer, markdown_answer, plain, table, table_answer

if TYPE_CHECKING:
    from pandas import DataFrame

FORMAT, HTML = "format", "html"
FILES = ("json", "csv", "md")
SAFE = ("GET", "HEAD")
# Doors with formats of their own, and Django's own pages.
ELSEWHERE = ("/api/", "/admin/")
# What no cell of a record's Markdown holds: a source and other files are in its JSON.
LONGEST_CELL = 2_000

Record = dict[str, Any]
Shape = type[Serializer[Any]]
Path = tuple[str, ...]


class PageFormats:
    """Refuses a format that there is not, and one that the page does not have; with 400.

    So no page is ever sent where a file was asked for.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        kind = response.headers.get("Content-Type", "")
        if file_asked(request) and response.status_code == 200 and kind.startswith("text/html"):
            return file_refusal(request, _unknown(request, (HTML,)))
        return response

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse | None:
        """After the login was asked for."""
        given = request.GET.get(FORMAT) or HTML
        if given in (HTML, *FILES) or not _is_page(request):
            return None
        said = {"title": "No such format", "message": str(_unknown(request, (HTML, *FILES)))}
        return render(request, "refused.html", {"refusal": said | {"status": 400}}, status=400)


def file_refusal(request: HttpRequest, error: FilterError) -> HttpResponse:
    """400 in the words of the error: as the API says it for JSON, else as a line of text."""
    if file_asked(request) == "json":
        said = JSONRenderer().render(refusal_record(400, error.field, error.message))
        return HttpResponse(said, status=400, content_type=ProblemRenderer.media_type)
    return HttpResponse(f"{error}\n", status=400, content_type="text/plain; charset=utf-8")


def file_asked(request: HttpRequest) -> str:
    """The file that is asked for; "" for the page."""
    given = request.GET.get(FORMAT, "")
    return given if given in FILES and _is_page(request) else ""


def list_file(
    request: HttpRequest,
    name: str,
    rows: Iterable[Any] | Callable[[], Iterable[Any]] = (),
    shape: Shape | None = None,
    head: str = "",
    as_table: Callable[[], DataFrame] | None = None,
) -> HttpResponse | None:
    """All rows of a list in their order, in the file that is asked for; None for the page.

    name: of the file. shape: the API's record of a row; None where rows are such records already.
    head: the columns of the Markdown, `gain.low` of an object's; the first links to the row's page.
    as_table: the CSV, where it holds more than the records; without a shape all three are of it.
    """
    file = _file_or_links(request)
    if not file:
        return None
    if file == "csv" and as_table is not None:
        return table_answer(name, as_table())
    if as_table is not None and shape is None:
        rows = _records_of(as_table())
    listed = list(rows() if callable(rows) else rows)
    records = [dict(each) for each in (shape(listed, many=True).data if shape else listed)]
    if file == "json":
        return _json(name, {"count": len(records), "next": None, "results": records})
    heads = [tuple(each.split(".")) for each in head.split()]
    paths = columns_of(shape()) if shape else _paths(records) or heads
    if file == "csv":
        return csv_answer(name, *_flat(paths, records))
    shown = [path for path in heads if path in paths]
    cells = [
        _line(request, row, record, [_cell(record, path) for path in shown or paths])
        for row, record in zip(listed, records, strict=True)
    ]
    titles = [plain(_words(path)) for path in shown or paths]
    return markdown_answer(name, (f"# {_title(name)}", table(titles, cells) or "Nothing."))


def record_file(
    request: HttpRequest,
    name: str,
    row: Any,
    shape: Shape | None = None,
    markdown: Callable[[], Iterable[str]] | None = None,
) -> HttpResponse | None:
    """One record in the file that is asked for; None for the page.

    row: without a shape the record itself, or what finds it.

    markdown: its parts, where there is more to say than its fields.
    """
    file = _file_or_links(request)
    if not file:
        return None
    if file == "md" and markdown is not None:
        return markdown_answer(name, markdown())
    found: Record = dict(shape(row).data if shape else row() if callable(row) else row)
    if file == "json":
        return _json(name, found)
    paths = columns_of(shape()) if shape else _paths([found])
    if file == "csv":
        return csv_answer(name, *_flat(paths, [found]))
    values = [(path, _cell(found, path)) for path in paths]
    lines = [
        (plain(_words(path)), plain(str(value)))
        for path, value in values
        if value not in ("", None) and not _is_nested(found, path) and _fits(value)
    ]
    address = request.build_absolute_uri(request.path)
    return markdown_answer(
        name, (f"# {link(_title(name), address)}", table(("Field", "Value"), lines))
    )


def _is_page(request: HttpRequest) -> bool:
    return request.method in SAFE and not request.path.startswith(ELSEWHERE)


def _file_or_links(request: HttpRequest) -> str:
    """The file that is asked for; else "", and the page's foot links to all three."""
    file = file_asked(request)
    request.has_files = not file  # type: ignore[attr-defined]
    return file


def _unknown(request: HttpRequest, accepted: Sequence[str]) -> FilterError:
    given = request.GET[FORMAT][:40].replace("\0", "")
    return FilterError(FORMAT, f"'{given}'; accepted: {', '.join(accepted)}")


def _json(name: str, data: Record) -> HttpResponse:
    answer = HttpResponse(JSONRenderer().render(data), content_type="application/json")
    answer["Content-Disposition"] = f'inline; filename="{name}.json"'
    return answer


def _records_of(rows: DataFrame) -> list[Record]:
    """With null in place of what is missing."""
    plain_ones = rows.convert_dtypes().astype(object)
    found: list[Record] = plain_ones.where(plain_ones.notna(), None).to_dict("records")
    return found


def _paths(records: Sequence[Record]) -> list[Path]:
    return [(key,) for key in dict.fromkeys(key for each in records for key in each)]


def _value(found: Record, path: Path) -> Any:
    value: Any = found
    for name in path:
        value = None if value is None else value.get(name)
    return value


def _is_nested(found: Record, path: Path) -> bool:
    return isinstance(_value(found, path), (dict, list, tuple))


def _cell(found: Record, path: Path) -> Any:
    """What a table holds: lists and objects as JSON."""
    value = _value(found, path)
    if _is_nested(found, path):
        return json.dumps(value, ensure_ascii=False, default=str)
    return value


def _flat(paths: Sequence[Path], records: Sequence[Record]) -> tuple[list[str], list[Record]]:
    names = [".".join(path) for path in paths]
    rows = [
        dict(zip(names, (_cell(each, path) for path in paths), strict=True)) for each in records
    ]
    return names, rows


def _line(request: HttpRequest, row: Any, record: Record, cells: Sequence[Any]) -> list[str]:
    """The cells, of which the first leads to the page of the row."""
    texts = ["" if cell is None else str(cell) for cell in cells]
    page = row.get_absolute_url() if hasattr(row, "get_absolute_url") else record.get("url")
    if not page:
        return [plain(text) for text in texts]
    address = request.build_absolute_uri(page)
    return [link(texts[0] or "–", address), *map(plain, texts[1:])]


def _words(path: Path) -> str:
    return " ".join(path).replace("_", " ")


def _title(name: str) -> str:
    return name.replace("-", " ").capitalize()


def _fits(value: Any) -> bool:
    return len(str(value)) <= LONGEST_CELL
