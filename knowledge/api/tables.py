"""Serialized rows as CSV lines, and an answer that is sent while it is made."""

from __future__ import annotations

import csv
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import StreamingHttpResponse
from rest_framework.request import Request
from rest_framework.serializers import Serializer
from rest_framework.utils.encoders import JSONEncoder

from knowledge.experience.writers.csv_text import FORMULA


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
        writer.writerow([_cell(_at(row, path)) for path in columns])
        yield line.getvalue()


def streamed(request: Request, lines: Iterator[str], kind: str) -> StreamingHttpResponse:
    """Send the lines as they are made, also from an asynchronous server."""
    in_async = isinstance(request._request, ASGIRequest)
    return StreamingHttpResponse(_in_a_thread(lines) if in_async else lines, content_type=kind)


async def _in_a_thread(lines: Iterator[str]) -> AsyncIterator[str]:
    following = sync_to_async(lambda: next(lines, None))
    while (line := await following()) is not None:
        yield line


def _at(row: Any, path: Sequence[str]) -> Any:
    for name in path:
        row = None if row is None else row[name]
    return row


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA) else value
    if isinstance(value, (Mapping, list, tuple)):
        return json.dumps(value, ensure_ascii=False, cls=JSONEncoder)
    return value
