"""Addresses that answer without a login, to whoever holds them: a badge in a README, a feed.

The key in one is bound to its path and its maker. It holds until the maker's password changes or
the account is closed, and it shows what that person may see.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare, salted_hmac

KEY = "key"
SALT = "knowledge.signed_addresses"
MOST_DIGITS = 18
DIGITS = 32  # of the key: 128 bits
REFUSED = "key: not of this address; accepted: a login, or the whole address that its page offers\n"

View = Callable[..., HttpResponse]


def signed(request: HttpRequest, path: str) -> str:
    """The path with its host and this person's key."""
    return request.build_absolute_uri(f"{path}?{KEY}={key_of(request.user, path)}")


def key_of(person: Any, path: str) -> str:
    """The key that this person may pass on."""
    said = f"{path} {person.pk} {person.get_session_auth_hash()}"
    return f"{person.pk}-{salted_hmac(SALT, said, algorithm='sha256').hexdigest()[:DIGITS]}"


def maker_of(path: str, key: str) -> User | None:
    """Who made the key; None where it is not of this path, or no longer holds."""
    pk, _, _ = key.partition("-")
    if not (pk.isascii() and pk.isdigit() and len(pk) <= MOST_DIGITS and key.isascii()):
        return None
    person = User.objects.filter(pk=int(pk), is_active=True).first()
    return person if person and constant_time_compare(key, key_of(person, path)) else None


def by_key(view: View) -> View:
    """Decorate a view that answers to a login or to a key, else with 403."""

    @login_not_required
    @wraps(view)
    def guarded(request: HttpRequest, **named: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            person = maker_of(request.path, request.GET.get(KEY, ""))
            if person is None:
                return HttpResponse(REFUSED, status=403, content_type="text/plain; charset=utf-8")
            request.user = person
        return view(request, **named)

    return guarded
