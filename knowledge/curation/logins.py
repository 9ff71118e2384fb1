"""Doors that take a password: few wrong ones by address and by name, few hashed at a time.

A hash costs a third of a second of a core on purpose. Without a bound whoever sends many logins
takes all cores, and every page waits.
"""

from __future__ import annotations

import ipaddress
import math
import os
import threading
import unicodedata
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.utils.crypto import salted_hmac

from knowledge.curation.errors import TooManyAtOnce
from knowledge.models import LoginAttempt

WINDOW = timedelta(minutes=5)
# Wrong passwords within the window. A team behind one address has more than one person's mistakes.
MOST_BY_NAME, MOST_BY_ADDRESS = 10, 30
# Passwords hashed at a time in this process: other threads keep most cores. Each that waits holds a
# thread and a connection to the database.
HASHED_AT_A_TIME = max(1, min(4, (os.cpu_count() or 1) // 4))
WAITING, PATIENCE_S = 4, 3.0
BUSY_S, FIELD = 5, "password"

_places = threading.BoundedSemaphore(HASHED_AT_A_TIME + WAITING)
_turns = threading.BoundedSemaphore(HASHED_AT_A_TIME)


class HashedInTurn(PBKDF2PasswordHasher):
    """Django's own hash, a few at a time. Raises TooManyAtOnce."""

    def encode(self, *args: Any, **kwargs: Any) -> str:
        busy = TooManyAtOnce(FIELD, "Too many passwords are being checked right now", BUSY_S)
        if not _places.acquire(blocking=False):
            raise busy
        try:
            if not _turns.acquire(timeout=PATIENCE_S):
                raise busy
            try:
                return super().encode(*args, **kwargs)
            finally:
                _turns.release()
        finally:
            _places.release()


def posted_name(request: HttpRequest) -> str:
    """The name that a form of Django's looks up for what was typed."""
    return unicodedata.normalize("NFKC", request.POST.get("username", "").strip())


def own_name(request: HttpRequest) -> str:
    return request.user.get_username()


def throttled(
    view: Callable[..., HttpResponseBase], name_of: Callable[[HttpRequest], str] = posted_name
) -> Callable[..., HttpResponseBase]:
    """A view whose POST takes a password, and which redirects only where it was right.

    Raises TooManyAtOnce.
    """

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method != "POST":
            return view(request, *args, **kwargs)
        by_name = _key("name", name_of(request))
        attempts = _counted({by_name: MOST_BY_NAME, **_by_address(request)})
        mine = LoginAttempt.objects.filter(pk__in=[attempt.pk for attempt in attempts])
        try:
            response = view(request, *args, **kwargs)
        except TooManyAtOnce:
            mine.delete()
            raise
        if response.status_code == 302:
            mine.delete()
            LoginAttempt.objects.filter(key=by_name).delete()
        return response

    return answer


def _counted(limits: dict[str, int]) -> list[LoginAttempt]:
    """Count an attempt under each key, before its password is looked at."""
    for key, most in limits.items():
        _require_few(_lately(key), most - 1)
    LoginAttempt.objects.filter(at__lt=timezone.now() - WINDOW).delete()
    made = [LoginAttempt.objects.create(key=key) for key in limits]
    try:
        # Many at once have all seen few before any was counted: now each sees those before it.
        for attempt in made:
            earlier = _lately(attempt.key).filter(pk__lt=attempt.pk)
            _require_few(earlier, limits[attempt.key] - 1)
    except TooManyAtOnce:
        LoginAttempt.objects.filter(pk__in=[attempt.pk for attempt in made]).delete()
        raise
    return made


def _lately(key: str) -> Any:
    return LoginAttempt.objects.filter(key=key, at__gte=timezone.now() - WINDOW)


def _require_few(attempts: Any, most: int) -> None:
    """Raise TooManyAtOnce for more attempts than that, with when the first of them is forgotten."""
    last = attempts.order_by("-at")[most : most + 1].first()
    if last is not None:
        left_s = (last.at + WINDOW - timezone.now()).total_seconds()
        raise TooManyAtOnce(FIELD, "Too many wrong passwords", max(1, math.ceil(left_s)))


def _by_address(request: HttpRequest) -> dict[str, int]:
    """The key of the client's address with its limit; none where it is not known.

    KOPT_CLIENT_HEADER names a header that the proxy in front sets; its last address is the one that
    the proxy itself has seen. Of IPv6 one client has a network of 64 bits.
    """
    name = settings.KOPT_CLIENT_HEADER
    said = request.headers.get(name, "").rpartition(",")[2] if name else ""
    try:
        address = ipaddress.ip_address(said.strip() or request.META.get("REMOTE_ADDR", ""))
    except ValueError:
        return {}
    network = ipaddress.ip_network((address, 64 if address.version == 6 else 32), strict=False)
    return {_key("address", str(network)): MOST_BY_ADDRESS}


def _key(kind: str, value: str) -> str:
    """A digest: in the place of a name people also type their password."""
    return salted_hmac(f"kopt.login.{kind}", value, algorithm="sha256").hexdigest()
