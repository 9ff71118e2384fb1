"""Lists as JSON pages, and whole as CSV or JSON Lines for pandas; and single resources.

Serializers read what a reader of records, not a column, has.
"""

from __future__ import annotations

import csv
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import copy_context
from functools import partial
from io import StringIO
from typing import Any, ClassVar

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from rest_framework.fields import Field
from rest_framework.filters import BaseFilterBackend
from rest_framework.mixins import ListModelMixin
from rest_framework.pagination import BasePagination
from rest_framework.permissions import SAFE_METHODS
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer, Serializer
from rest_framework.utils.encoders import JSONEncoder
from rest_framework.utils.urls import replace_query_param

from knowledge.api.json_body import number_at
from knowledge.api.view import RowView
from knowledge.experience.writers.texts import FORMULA
from knowledge.lookup.listing import FilterError

AFTER, PAGE_SIZE = "after", "page_size"
USUAL_PAGE, LONGEST_PAGE = 100, 500
CHUNK = 500  # rows of a streamed answer that are in memory at once

Rows = QuerySet[Any] | list[Any]


class CsvTable(BaseRenderer):
    """Names the format; the table itself is streamed, past the renderers."""

    media_type, format, charset = "text/csv", "csv", "utf-8"


class JsonLines(BaseRenderer):
    media_type, format, charset = "application/x-ndjson", "jsonl", "utf-8"


class KeyPages(BasePagination):
    """`?after=`: only rows behind this one; `?page_size=` from 1 to `LONGEST_PAGE`.

    A row that is added meanwhile moves no other to another page.
    """

    def page(self, rows: Rows, request: Request) -> tuple[Sequence[Any], dict[str, Any]]:
        """The rows of the page, and what stands around them. FilterError for other numbers."""
        size = number_at(request, PAGE_SIZE, USUAL_PAGE)
        if not 1 <= size <= LONGEST_PAGE:
            raise FilterError(PAGE_SIZE, f"{size}; accepted: 1 to {LONGEST_PAGE}")
        after = number_at(request, AFTER, 0) if AFTER in request.query_params else None
        count = len(rows) if isinstance(rows, list) else rows.count()
        found = list(behind(rows, after)[: size + 1])
        shown, link = found[:size], None
        if len(found) > size:
            link = replace_query_param(
                request.build_absolute_uri(), AFTER, key_of(rows, shown, after)
            )
        return shown, {"count": count, "next": link}

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "required": ["count", "next", "results"],
            "properties": {
                "count": {"type": "integer", "description": "rows on all pages"},
                "next": {"type": ["string", "null"], "format": "uri"},
                "results": schema,
            },
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        return [
            _parameter(AFTER, {"type": "integer", "minimum": 0, "maximum": 999_999_999}),
            _parameter(PAGE_SIZE, {"type": "integer", "minimum": 1, "maximum": LONGEST_PAGE}),
        ]


class Filtered(DjangoFilterBackend):
    """By the view's `filterset_class`."""

    def get_filterset_kwargs(self, request: Request, queryset: Any, view: Any) -> dict[str, Any]:
        kwargs: dict[str, Any] = super().get_filterset_kwargs(request, queryset, view)
        return kwargs | {"data": view.wanted}


class Selected(BaseFilterBackend):
    """By the view's own `select`: name → text of the `names` that were given."""

    def filter_queryset(self, request: Request, queryset: Any, view: Any) -> Any:
        return view.select(view.wanted)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        choices = view.choices
        return [
            _parameter(
                name, {"type": "string"} | ({"enum": choices[name]} if name in choices else {})
            )
            for name in view.names
        ]


class ListView(RowView, ListModelMixin):
    """GET lists the rows by the filters: a page as JSON, all of them as CSV or JSON Lines.

    names, choices: the filters of a view without a filter set, and what they accept.
    """

    renderer_classes = [JSONRenderer, CsvTable, JsonLines]
    pagination_class = KeyPages
    filter_backends: ClassVar[list[type[BaseFilterBackend]]] = [Filtered]
    names: tuple[str, ...] = ()
    choices: ClassVar[dict[str, list[str]]] = {}
    order = "-pk"
    wanted: dict[str, str]

    def get(self, request: Request, **path: Any) -> Any:
        asked = self.asked(*self.filter_names(**path), AFTER, PAGE_SIZE)
        self.wanted = {k: v for k, v in asked.items() if k not in (AFTER, PAGE_SIZE)}
        rows = self.rows(**path)
        if request.accepted_renderer.format != "json":
            written = (row for part in _parts(rows) for row in self.written(part))
            texts = (json.dumps(row, cls=JSONEncoder, allow_nan=False) + "\n" for row in written)
            is_csv = request.accepted_renderer.format == "csv"
            columns = columns_of(self.get_serializer()) if is_csv else []
            lines = csv_lines(columns, written) if is_csv else texts
            kind = f"{request.accepted_renderer.media_type}; charset=utf-8"
            return streamed(request, lines, kind)
        shown, around = KeyPages().page(rows, request)
        return Response({**around, "results": self.written(shown)})

    def filter_names(self, **path: Any) -> tuple[str, ...]:
        """What the rows may be filtered by."""
        filters = getattr(self, "filterset_class", None)
        return tuple(filters.base_filters) if filters else self.names

    def get_renderers(self) -> list[BaseRenderer]:
        """Only lists are tables; what was posted is answered as JSON."""
        kinds = self.renderer_classes if self.request.method in SAFE_METHODS else [JSONRenderer]
        return [kind() for kind in kinds]

    def rows(self, **path: Any) -> Rows:
        """The rows that the filters leave, in order."""
        found: QuerySet[Any] = self.filter_queryset(self.get_queryset())
        return found.order_by(self.order)

    def records(self, rows: Sequence[Any]) -> Sequence[Any]:
        """What the serializer reads of some rows."""
        return rows

    def written(self, rows: Sequence[Any]) -> list[dict[str, Any]]:
        """The rows as the answer has them."""
        found: list[dict[str, Any]] = self.get_serializer(self.records(rows), many=True).data
        return found


class OneView(RowView):
    """GET one row of `queryset` by its key, with an ETag.

    record: a function of the row that finds what the serializer reads; None where that is the row.
    """

    has_etag = True
    record: ClassVar[Any] = None

    def get(self, request: Request, **path: Any) -> Response:
        self.asked()
        row = self.get_object()
        return Response(self.get_serializer(self.record(row) if self.record else row).data)


def behind(rows: Rows, after: int | None) -> Rows:
    """The rows behind this key, in their order; of a list, those behind so many."""
    if after is None:
        return rows
    if isinstance(rows, list):
        return rows[after:]
    falling = str(rows.query.order_by[0]).startswith("-")
    return rows.filter(pk__lt=after) if falling else rows.filter(pk__gt=after)


def key_of(rows: Rows, shown: Sequence[Any], after: int | None) -> int:
    """The key of the last row that is shown."""
    if isinstance(rows, list):
        return (after or 0) + len(shown)
    last: int = shown[-1].pk
    return last


def _parts(rows: Rows) -> Iterator[Sequence[Any]]:
    after: int | None = None
    while part := list(behind(rows, after)[:CHUNK]):
        yield part
        if len(part) < CHUNK:
            return
        after = key_of(rows, part, after)


def _parameter(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema}


def columns_of(serializer: Serializer, before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The path of each cell: a nested object has a column a field, as `gain.low`."""
    found: list[tuple[str, ...]] = []
    for name, field in serializer.fields.items():
        path, shape = (*before, name), getattr(field, "shape", field)
        found += columns_of(shape, path) if isinstance(shape, Serializer) else [path]
    return found


def csv_lines(
    columns: Sequence[tuple[str, ...]], rows: Iterable[Mapping[str, Any]]
) -> Iterator[str]:
    """The header and a line a row; lists and free objects as JSON, nothing for null.

    A text that a spreadsheet would take for a formula has an apostrophe before it.
    """
    line = StringIO()
    writer = csv.writer(line, lineterminator="\n")
    writer.writerow([".".join(path) for path in columns])
    yield line.getvalue()
    for row in rows:
        line.seek(0)
        line.truncate()
        writer.writerow([_cell(row, path) for path in columns])
        yield line.getvalue()


def streamed(request: Request, lines: Iterator[str], kind: str) -> StreamingHttpResponse:
    """Send the lines as they are made, also from an asynchronous server.

    They are read when the request is over, and with its eyes all the same.
    """
    following = partial(copy_context().run, next, lines, None)
    lines = iter(following, None)
    in_async = isinstance(request._request, ASGIRequest)
    return StreamingHttpResponse(_in_a_thread(lines) if in_async else lines, content_type=kind)


async def _in_a_thread(lines: Iterator[str]) -> AsyncIterator[str]:
    following = sync_to_async(lambda: next(lines, None))
    while (line := await following()) is not None:
        yield line


def _cell(value: Any, path: Sequence[str]) -> Any:
    for name in path:
        value = None if value is None else value[name]
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA) else value
    if isinstance(value, (Mapping, list, tuple)):
        return json.dumps(value, ensure_ascii=False, cls=JSONEncoder)
    return value


class Read(Field):
    """A value that `read` finds for the whole row; `shape` writes it and describes it."""

    def __init__(self, shape: Field, read: Callable[[Any], Any]) -> None:
        super().__init__(source="*", read_only=True)
        self.shape, self.read = shape, read

    def bind(self, field_name: str, parent: Any) -> None:
        super().bind(field_name, parent)
        self.shape.parent = parent

    def to_representation(self, row: Any) -> Any:
        value = self.read(row)
        return None if value is None else self.shape.to_representation(value)


class ReadField(OpenApiSerializerFieldExtension):
    """The schema of the shape, with null where the reader may find nothing."""

    target_class = Read

    def map_serializer_field(self, auto_schema: Any, direction: str) -> dict[str, Any]:
        shape = self.target.shape
        if not isinstance(shape, BaseSerializer):
            found: dict[str, Any] = auto_schema._map_serializer_field(shape, direction)
            return found
        many = getattr(shape, "many", False)
        inner = auto_schema.resolve_serializer(shape.child if many else shape, direction).ref
        found = {"type": "array", "items": inner} if many else inner
        return {"oneOf": [found, {"type": "null"}]} if shape.allow_null else found


class RecordSerializer(BaseSerializer):
    """Mixed into a serializer: its fields are read from what the function `record` answers."""

    record: ClassVar[Any]

    def to_representation(self, row: Any) -> Any:
        read = row if isinstance(row, dict) else type(self).record(row)
        return super().to_representation(read)
