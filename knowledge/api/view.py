"""What every address under /api/v1/ shares: a session with CSRF or a token, JSON, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from django.http import Http404, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_cache_control, set_response_etag
from rest_framework.authentication import SessionAuthentication
from rest_framework.permissions import IsAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from knowledge.api.access import BearerToken, TokenRate, WithinScope
from knowledge.api.answered_once import Answered, claim, keep
from knowledge.api.json_body import StrictJson, require_short
from knowledge.api.parameters import FORMAT, parameters
from knowledge.api.problems import problem
from knowledge.curation.errors import CurationError
from knowledge.lookup.listing import FilterError
from knowledge.models import KeptAnswer
from knowledge.models.token import Scope


class ApiView(APIView):
    """An address for people who are logged in and for their tokens.

    scopes: method → what a token needs for it; for people alone without one. GET is `read`.
    """

    # Set here and not in the settings: no address may fall back to the framework's own pages,
    # whose styles and scripts the Content-Security-Policy forbids.
    authentication_classes = [BearerToken, SessionAuthentication]
    permission_classes = [IsAuthenticated, WithinScope]
    throttle_classes = [TokenRate]
    renderer_classes = [JSONRenderer]
    parser_classes = [StrictJson]
    http_method_names = ["get", "head", "post"]
    scopes: ClassVar[dict[str, Scope]] = {}
    has_etag = False
    claimed: KeptAnswer | None = None

    def get_exception_handler(self) -> Callable[..., Response | None]:
        return _refusal

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        try:
            return super().perform_content_negotiation(request, force)
        except Http404:
            accepted = ", ".join(each.format for each in self.get_renderers())
            raise FilterError(FORMAT, f"accepted: {accepted}") from None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        require_short(request.headers)
        super().initial(request, *args, **kwargs)
        self.claimed = claim(request)

    def handle_exception(self, exc: Exception) -> Any:
        if self.claimed is not None:
            self.claimed.delete()
            self.claimed = None
        return super().handle_exception(exc)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        patch_cache_control(response, private=True, no_cache=True)
        if self.claimed is not None:
            response.add_post_render_callback(self._keep)
        if self.has_etag and response.status_code == 200 and request.method in ("GET", "HEAD"):
            response.add_post_render_callback(self._with_etag)
        return response

    def body(self) -> dict[str, Any]:
        """The JSON object that was sent. CurationError for anything but an object."""
        if not isinstance(self.request.data, dict):
            raise CurationError("body", "accepted: one JSON object")
        return self.request.data

    def asked(self, *accepted: str) -> dict[str, str]:
        """The parameters of the address, of those that are accepted. Raises FilterError."""
        found = parameters(self.request, (*accepted, FORMAT))
        found.pop(FORMAT, None)
        return found

    def _keep(self, response: Any) -> None:
        if self.claimed is not None:
            keep(self.claimed, response)

    def _with_etag(self, response: Any) -> HttpResponseBase | None:
        set_response_etag(response)
        found: HttpResponseBase | None = get_conditional_response(
            self.request, etag=response["ETag"], response=response
        )
        return found


def _refusal(error: Exception, context: dict[str, Any]) -> Response | None:
    return error.response if isinstance(error, Answered) else problem(error, context)
