"""Who asks over HTTP: a session, or a token with the scopes and the rate that it has."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from knowledge.models.token import Scope, Token


class BearerToken(TokenAuthentication):
    """`Authorization: Bearer <token>`; 401 for one that is unknown, expired or malformed."""

    def authenticate_credentials(self, token: bytes) -> tuple[Any, Token]:
        if not token.isalnum():  # neither text of other encodings nor NUL reaches the database
            raise AuthenticationFailed("no such token")
        found: tuple[Any, Token] = super().authenticate_credentials(token)
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
            self.message = "no token may do this: a person does, logged in"
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
