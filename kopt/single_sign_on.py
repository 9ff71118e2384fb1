"""Logging in by a provider of OpenID Connect, where `KOPT_OIDC_ISSUER` names one.

The protocol is mozilla-django-oidc's. Here is whom it lets in: an account with a password is never
one of the provider's, whatever address somebody has there.
"""

from __future__ import annotations

import logging
import re
from functools import cache
from typing import Any

import requests
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import Group, User
from django.core.exceptions import SuspiciousOperation
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.functional import SimpleLazyObject
from jwt import PyJWTError
from mozilla_django_oidc import views
from mozilla_django_oidc.auth import OIDCAuthenticationBackend
from mozilla_django_oidc.utils import import_from_settings

from knowledge.curation.people import ROLES
from knowledge.lookup.database import give_connection_back

log = logging.getLogger(__name__)

# What the library calls an endpoint → its name in the provider's own description.
ENDPOINTS = {
    "OIDC_OP_AUTHORIZATION_ENDPOINT": "authorization_endpoint",
    "OIDC_OP_TOKEN_ENDPOINT": "token_endpoint",
    "OIDC_OP_USER_ENDPOINT": "userinfo_endpoint",
    "OIDC_OP_JWKS_ENDPOINT": "jwks_uri",
}
TIMEOUT_S = 10
# What an answer that is wrong, late or missing raises.
REFUSED = (SuspiciousOperation, PyJWTError, requests.RequestException, KeyError, ValueError)
# A name from there looks like nobody else's: of one alphabet, without blanks.
NAME = re.compile(r"[A-Za-z0-9_.@+-]{1,150}")


@cache
def provider(issuer: str) -> dict[str, Any]:
    """The provider's description of itself. Raises SuspiciousOperation for another issuer's."""
    address = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
    answer = requests.get(address, timeout=TIMEOUT_S)
    answer.raise_for_status()
    found: dict[str, Any] = answer.json()
    if found.get("issuer") != issuer:
        raise SuspiciousOperation(f"{address} describes another issuer")
    return found


def setting(name: str, *default: Any) -> Any:
    """A setting of the library: an endpoint by the provider's description, others as they are.

    An endpoint is looked up when it is used: the library makes a backend for each request, and a
    provider that is away may stop logins alone.
    """
    if name in ENDPOINTS:
        return SimpleLazyObject(lambda: provider(settings.KOPT_OIDC_ISSUER)[ENDPOINTS[name]])
    return import_from_settings(name, *default)


class Provider(OIDCAuthenticationBackend):
    """Accounts of the provider, by their verified address; their roles are its groups of ours."""

    get_settings = staticmethod(setting)

    def authenticate(self, request: HttpRequest, **kwargs: Any) -> User | None:
        """None, and a line in the log, for whatever is wrong with the provider's answer."""
        give_connection_back()
        try:
            found: User | None = super().authenticate(request, **kwargs)
        except REFUSED as error:
            log.warning("a login by the provider was refused: %s", error)
            return None
        return found

    def get_token(self, payload: dict[str, str]) -> dict[str, Any]:
        """Ask as the library does, but never carry the client's secret along a redirect."""
        address = self.OIDC_OP_TOKEN_ENDPOINT
        answer = requests.post(address, data=payload, timeout=TIMEOUT_S, allow_redirects=False)
        self.raise_token_response_error(answer)
        found: dict[str, Any] = answer.json()
        return found

    def verify_token(self, token: str, **kwargs: Any) -> dict[str, Any]:
        """The library checks signature and nonce; here for whom it is, and from whom."""
        payload: dict[str, Any] = super().verify_token(token, **kwargs)
        audience = payload.get("aud")
        for_us = audience if isinstance(audience, list) else [audience]
        if settings.OIDC_RP_CLIENT_ID not in for_us:
            raise SuspiciousOperation("the token is for another client")
        if payload.get("iss") != settings.KOPT_OIDC_ISSUER:
            raise SuspiciousOperation("the token is another issuer's")
        self._subject = payload.get("sub")
        return payload

    def verify_claims(self, claims: dict[str, Any]) -> bool:
        """Only of the one who logged in, and only with an address that the provider verified."""
        same = bool(self._subject) and claims.get("sub") == self._subject
        return same and bool(claims.get("email")) and claims.get("email_verified") is True

    def filter_users_by_claims(self, claims: dict[str, Any]) -> QuerySet[User]:
        # A database also takes letters of other alphabets for the same in another case.
        email = claims["email"].encode().lower()
        found = User.objects.filter(email__iexact=claims["email"])
        same = [user for user in found if user.email.encode().lower() == email]
        ours = [user.pk for user in same if not user.has_usable_password()]
        return User.objects.filter(pk__in=ours)

    def create_user(self, claims: dict[str, Any]) -> User:
        """A viewer without a password, until a group of the provider says more."""
        wanted = [str(claims.get("preferred_username") or ""), str(claims["email"])]
        valid = [name for name in wanted if NAME.fullmatch(name) and name.lower() not in ROLES]
        free = [name for name in valid if not User.objects.filter(username__iexact=name).exists()]
        if not free:
            raise SuspiciousOperation("the names of this account are taken here")
        made = User.objects.create_user(free[0], email=claims["email"])
        return self.update_user(made, claims)

    def update_user(self, user: User, claims: dict[str, Any]) -> User:
        """At each login the roles are what the provider says, where it says anything."""
        named = claims.get(settings.KOPT_OIDC_ROLES)
        if isinstance(named, list):
            groups = Group.objects.filter(name__in=ROLES)
            user.groups.remove(*groups.exclude(name__in=map(str, named)))
            user.groups.add(*groups.filter(name__in=map(str, named)))
        return user


class _Begin(views.OIDCAuthenticationRequestView):
    """Sends people to the provider; back to the login where it does not answer."""

    get_settings = staticmethod(setting)

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        give_connection_back()
        try:
            provider(settings.KOPT_OIDC_ISSUER)
        except REFUSED as error:
            log.warning("the provider does not answer: %s", error)
            return redirect(settings.LOGIN_REDIRECT_URL_FAILURE)
        answer: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return answer


_back = views.OIDCAuthenticationCallbackView.as_view()
# Where a login begins, and where the provider sends people back to.
urlpatterns: list[URLPattern] = [
    path("", login_not_required(_Begin.as_view()), name="oidc_authentication_init"),
    path("back/", login_not_required(_back), name="oidc_authentication_callback"),
]
