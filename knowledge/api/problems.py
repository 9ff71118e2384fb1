"""Refusals as problem details (RFC 9457) that name the field that is wrong."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.defaults import page_not_found
from rest_framework.exceptions import (
    AuthenticationFailed,
    NotAcceptable,
    NotAuthenticated,
    NotFound,
    UnsupportedMediaType,
    ValidationError,
)
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import exception_handler

from knowledge.api.json_body import BadBody, TooLarge, Unmeasured
from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.lookup.listing import FilterError, NotKnown
from knowledge.specs.metrics import MetricError

STATUS_OF: dict[type[Exception], int] = {
    BadBody: 400,
    FilterError: 400,
    Forbidden: 403,
    NotKnown: 404,
    MetricError: 404,
    Conflict: 409,
    Unmeasured: 411,
    TooLarge: 413,
    CurationError: 422,
}
# What is wrong where the error itself does not say it.
FIELD_OF: dict[type[Exception], str] = {
    NotKnown: "platform",
    MetricError: "metric",
    Http404: "id",
    NotFound: "id",
    UnsupportedMediaType: "Content-Type",
    NotAcceptable: "Accept",
    AuthenticationFailed: "Authorization",
    NotAuthenticated: "Authorization",
}
LONGEST_NAME = 80  # characters of a field's name that are repeated


class ProblemRenderer(JSONRenderer):
    """A refusal is JSON, also where a table was asked for."""

    media_type = "application/problem+json"


def problem(error: Exception, context: dict[str, Any]) -> Response | None:
    """Answer a refusal; None for our own mistakes, which stay a 500 with their traceback."""
    # An error of an app's own that is one of these kinds is answered alike.
    kinds = (STATUS_OF[kind] for kind in type(error).__mro__ if kind in STATUS_OF)
    status = next(kinds, None)
    field: str | None = getattr(error, "field", FIELD_OF.get(type(error)))
    if status is not None:
        message = getattr(error, "message", str(error))
        answer = Response(refusal_record(status, field, message), status)
    else:
        answer = exception_handler(error, context)
        if answer is None:
            return None
        if isinstance(error, ValidationError):
            field, message = _first(error.detail)
        else:
            field, message = FIELD_OF.get(type(error)), str(answer.data["detail"])
        answer.data = refusal_record(answer.status_code, field, message)
    request = context["request"]
    request.accepted_renderer = ProblemRenderer()
    request.accepted_media_type = ProblemRenderer.media_type
    return answer


def no_such_address(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The 404 of an address that is not in the table: as the API says it there, else the page."""
    if not request.path.startswith("/api/v1/"):
        return page_not_found(request, exception)
    said = refusal_record(
        404, "address", "no such address; /api/v1/schema has those that there are"
    )
    return JsonResponse(said, status=404, content_type=ProblemRenderer.media_type)


def _first(detail: Any, path: str = "") -> tuple[str, str]:
    """The first field that a form or a serializer refuses, by its path, and why."""
    if isinstance(detail, dict) and detail:
        name, inner = next(iter(detail.items()))
        name = "" if name == "non_field_errors" else str(name)
        return _first(inner, f"{path}.{name}" if path and name else path or name)
    if isinstance(detail, list) and detail:
        return _first(detail[0], path)
    return path or "body", str(detail)


def refusal_record(status: int, field: str | None, message: str) -> dict[str, Any]:
    """A refusal as every address of the API says it."""
    message = _plain(message)
    return {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": message,
        "field": field and _plain(field[:LONGEST_NAME]),
        "message": message,
    }


def _plain(text: str) -> str:
    """The text without what UTF-8 cannot hold: a refusal repeats what was sent."""
    return text.encode(errors="replace").decode()
