"""What every address under /api/v1/ shares: JSON alone, a session with CSRF, and clear refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import Http404
from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import NotFound, UnsupportedMediaType
from rest_framework.permissions import IsAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import APIView, exception_handler

from knowledge.api.json_body import BadBody, StrictJson, TooLarge
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
    TooLarge: 413,
    CurationError: 422,
}
# What is wrong where the error itself does not say it.
FIELD_OF: dict[type[Exception], str] = {
    NotKnown: "platform",
    MetricError: "metric",
    Http404: "id",
    NotFound: "page",
    UnsupportedMediaType: "Content-Type",
}
LONGEST_NAME = 80  # characters of a field's name that are repeated


class ApiView(APIView):
    """An address for people who are logged in. Every refusal is {"field", "message"}."""

    # Set here and not in the settings: no address may fall back to the framework's own pages,
    # whose styles and scripts the Content-Security-Policy forbids.
    authentication_classes = [SessionAuthentication]
    permission_classes = [IsAuthenticated]
    renderer_classes = [JSONRenderer]
    parser_classes = [StrictJson]

    def get_exception_handler(self) -> Callable[..., Response | None]:
        return _refusal

    def body(self) -> dict[str, Any]:
        """The JSON object that was sent. CurationError for anything but an object."""
        if not isinstance(self.request.data, dict):
            raise CurationError("body", "accepted: one JSON object")
        return self.request.data


def _refusal(error: Exception, context: dict[str, Any]) -> Response | None:
    """Answer a refusal; None for our own mistakes, which stay a 500 with their traceback."""
    status = STATUS_OF.get(type(error))
    if status is not None:
        field = getattr(error, "field", FIELD_OF.get(type(error)))
        return Response(_said(field, getattr(error, "message", str(error))), status)
    answer = exception_handler(error, context)
    if answer is not None and isinstance(answer.data, dict):
        answer.data = _said(FIELD_OF.get(type(error)), str(answer.data.get("detail", answer.data)))
    return answer


def _said(field: str | None, message: str) -> dict[str, str | None]:
    return {"field": field and _plain(field[:LONGEST_NAME]), "message": _plain(message)}


def _plain(text: str) -> str:
    """The text without what UTF-8 cannot hold: a refusal repeats what was sent."""
    return text.encode(errors="replace").decode()
