"""What every address under /api/v1/ shares: JSON alone, a session with CSRF, and clear refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rest_framework.authentication import SessionAuthentication
from rest_framework.parsers import JSONParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import APIView, exception_handler

from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.listing import FilterError, NotKnown
from knowledge.specs.metrics import MetricError

STATUS_OF: dict[type[Exception], int] = {
    FilterError: 400,
    Forbidden: 403,
    NotKnown: 404,
    MetricError: 404,
    Conflict: 409,
    CurationError: 422,
}


class Door(APIView):
    """An address for people who are logged in. Every refusal is {"field", "message"}."""

    # Set here and not in the settings: no address may fall back to the framework's own pages,
    # whose styles and scripts the Content-Security-Policy forbids.
    authentication_classes = [SessionAuthentication]
    permission_classes = [IsAuthenticated]
    renderer_classes = [JSONRenderer]
    parser_classes = [JSONParser]

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
        field = getattr(error, "field", None)
        return Response({"field": field, "message": getattr(error, "message", str(error))}, status)
    answer = exception_handler(error, context)
    if answer is not None and isinstance(answer.data, dict):
        answer.data = {"field": None, "message": str(answer.data.get("detail", answer.data))}
    return answer
