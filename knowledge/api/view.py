"""What every address under /api/v1/ shares: a session with CSRF or a token, JSON, refusals.

A call that is repeated under the same key gets the answer of the first one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.http import Http404, HttpResponseBase
from django.utils import timezone
from django.utils.cache import get_conditional_response, patch_cache_control, set_response_etag
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication
from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import SAFE_METHODS, BasePermission, IsAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView

from knowledge.api.json_body import FORMAT, StrictJson, parameters, require_short
from knowledge.api.problems import problem
from knowledge.curation.errors import Conflict, CurationError
from knowledge.lookup.listing import FilterError
from knowledge.models import KeptAnswer
from knowledge.models.sight import seen
from knowledge.models.token import Scope, Token

HEADER = "Idempotency-Key"
KEPT_FOR = timedelta(days=1)
LONGEST_KEY = 200


class Answered(Exception):
    """The request was answered before: `response` is that answer."""

    def __init__(self, response: Response) -> None:
        super().__init__("answered before")
        self.response = response


def claim(request: Request) -> KeptAnswer | None:
    """Take the request's key for this request; None where it has none.

    Raises Answered, CurationError where the key was used for another request, and Conflict while
    that one is under way.
    """
    key = request.headers.get(HEADER)
    if request.method != "POST" or key is None:
        return None
    if not key.isprintable() or not key.isascii() or not 0 < len(key) <= LONGEST_KEY:
        raise CurationError(HEADER, f"accepted: 1 to {LONGEST_KEY} printable ASCII characters")
    KeptAnswer.objects.filter(at__lt=timezone.now() - KEPT_FOR).delete()
    body = json.dumps(request.data, sort_keys=True, default=str)
    said = f"{request.method} {request.get_full_path()} {body}"
    digest = hashlib.sha256(said.encode(errors="surrogatepass")).hexdigest()
    try:
        with transaction.atomic():
            return KeptAnswer.objects.create(user=request.user, key=key, request=digest)
    except IntegrityError:
        kept = KeptAnswer.objects.filter(user=request.user, key=key).first()
    if kept is None or (kept.request == digest and kept.status is None):
        raise Conflict(f"{HEADER}: the first request with it is under way; ask again later")
    if kept.request != digest:
        raise CurationError(HEADER, "it was used for another request; accepted: a new key")
    raise Answered(Response(json.loads(kept.content), kept.status, headers={"Idempotent": "1"}))


# How exactly the last use of a token is kept.
USED_STEP = timedelta(minutes=1)


class BearerToken(TokenAuthentication):
    """`Authorization: Bearer <token>`; 401 for one that is unknown, expired or malformed."""

    def authenticate_credentials(self, token: bytes) -> tuple[Any, Token]:
        if not token.isalnum():  # neither text of other encodings nor NUL reaches the database
            raise AuthenticationFailed("no such token")
        found: tuple[Any, Token] = super().authenticate_credentials(token)
        now, (_, own) = timezone.now(), found
        if own.used_at is None or now - own.used_at > USED_STEP:
            Token.objects.filter(pk=own.pk).update(used_at=now)
        return found


class BearerScheme(OpenApiAuthenticationExtension):
    """How the schema describes it."""

    target_class = BearerToken
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


class WithinScope(BasePermission):
    """A token does what its scopes name; what a view gives no scope is for people alone."""

    def has_permission(self, request: Request, view: Any) -> bool:
        token = request.auth
        if not isinstance(token, Token) or request.method in SAFE_METHODS:
            return True
        scope: Scope | None = view.scopes.get(request.method)
        if scope is None:
            self.message = view.for_people
            return False
        self.message = f"the token needs the scope {scope.value}; it has {', '.join(token.scopes)}"
        return token.allows(scope)


class TokenRate(SimpleRateThrottle):
    """At most `KOPT_API_PER_MINUTE` requests of one token; sessions are not counted."""

    scope = "token"

    def get_rate(self) -> str | None:
        most = int(settings.KOPT_API_PER_MINUTE)
        return f"{most}/minute" if most else None

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        token = request.auth
        return f"token-rate-{token.pk}" if isinstance(token, Token) else None


class ApiView(APIView):
    """An address for people who are logged in and for their tokens.

    scopes: method → what a token needs for it; for people alone without one, which `for_people`
    says. GET is `read`.
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
    for_people = "no token may do this: a person does, logged in"
    has_etag = False
    claimed: KeptAnswer | None = None

    def get_exception_handler(self) -> Callable[..., Response | None]:
        return lambda error, context: (
            error.response if isinstance(error, Answered) else problem(error, context)
        )

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
        """Keep the rendered answer; a refusal leaves the key free, for it stored nothing."""
        if self.claimed is not None and response.status_code >= 400:
            self.claimed.delete()
        elif self.claimed is not None:
            self.claimed.status, self.claimed.content = (
                response.status_code,
                response.content.decode(),
            )
            self.claimed.save(update_fields=["status", "content"])

    def _with_etag(self, response: Any) -> HttpResponseBase | None:
        set_response_etag(response)
        found: HttpResponseBase | None = get_conditional_response(
            self.request, etag=response["ETag"], response=response
        )
        return found


class RowView(ApiView, GenericAPIView):
    """An address of the rows of `queryset`, which was made when nobody had asked yet."""

    def get_queryset(self) -> QuerySet[Any]:
        return seen(super().get_queryset())
