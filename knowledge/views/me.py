"""A person's own page: what they are told, keys, sessions; tokens have a page of their own."""

from __future__ import annotations

from datetime import timedelta
from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.sessions.models import Session
from django.core import signing
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.core.paginator import Paginator
from django.core.validators import validate_email
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from knowledge.curation.errors import TooManyAtOnce
from knowledge.curation.tokens import tokens_of
from knowledge.lookup.database import give_connection_back
from knowledge.models import MailAddress, Notification

PER_PAGE = 20
# Whether single keys act, for people whose screen reader or speech input uses them (WCAG 2.1.4).
KEYS_OFF, OFF = "keys_off", "1"
YEAR_S = 365 * 24 * 3600
# Of the letter that asks for a confirmation; a person gets one a minute.
CONFIRMS, CONFIRMED_WITHIN, LETTER_EVERY_S = "confirm-mail", timedelta(days=1), 60
# More sessions than this are not looked through for those of one person.
MOST_SESSIONS = 5000


@never_cache
@require_safe
def me(request: HttpRequest) -> HttpResponse:
    """What the person is told, the newest first; `?page=` counts from 1."""
    rows = Notification.objects.filter(person=request.user.pk)
    context = {
        "page": Paginator(rows, PER_PAGE).get_page(request.GET.get("page")),
        "unread": Notification.objects.unread(request.user).count(),
        "tokens": tokens_of(request.user).count(),
        "keys_off": request.COOKIES.get(KEYS_OFF) == OFF,
        "sessions": [
            (s.session_key == request.session.session_key, s.expire_date) for s in _own(request)
        ],
        "mail": MailAddress.objects.filter(person=request.user.pk).first(),
        "sends_mail": bool(settings.EMAIL_HOST),
        "roles": [group.name for group in request.user.groups.all()],
    }
    return render(request, "knowledge/me.html", context)


@require_safe
def notification(request: HttpRequest, key: int) -> HttpResponse:
    """Open what it is about; it is read then."""
    found = get_object_or_404(Notification, pk=key, person=request.user.pk)
    Notification.objects.filter(pk=key, read_at=None).update(read_at=timezone.now())
    # Ours alone is stored there, so it leads nowhere else.
    return redirect(found.url)


@require_POST
def read_all(request: HttpRequest) -> HttpResponse:
    """Call everything read."""
    Notification.objects.unread(request.user).update(read_at=timezone.now())
    return redirect("me")


@require_POST
def keys(request: HttpRequest) -> HttpResponse:
    """Turn single keys off, or on again."""
    wanted = OFF if request.POST.get("keys") == "off" else "0"
    return keep_cookie(request, redirect("me"), KEYS_OFF, wanted)


def keep_cookie(
    request: HttpRequest, response: HttpResponse, name: str, value: str
) -> HttpResponse:
    """The same answer with a choice of the visitor, kept for a year; no script reads it."""
    secure = request.is_secure()
    response.set_cookie(name, value, YEAR_S, samesite="Lax", httponly=True, secure=secure)
    return response


@require_POST
def mail(request: HttpRequest) -> HttpResponse:
    """Ask an address whether what is unread may go there, or with an empty one send no more."""
    address = request.POST.get("address", "").strip()
    if not address:
        MailAddress.objects.filter(person=request.user.pk).delete()
        messages.success(request, "No mail is sent to you.")
        return redirect("me")
    try:
        validate_email(address)
    except ValidationError:
        messages.error(request, f"address: {address[:80]!r}; accepted: one like you@example.org")
        return redirect("me")
    if not cache.add(f"{CONFIRMS}-{request.user.pk}", True, LETTER_EVERY_S):
        raise TooManyAtOnce("address", "A letter has just been sent for you", LETTER_EVERY_S)
    word = signing.dumps([request.user.pk, address], salt=CONFIRMS)
    link = request.build_absolute_uri(reverse("confirm_mail", args=[word]))
    text = f"To have kopt write to this address, follow this link within a day:\n\n{link}"
    give_connection_back()
    try:
        send_mail("kopt: confirm this address", text, settings.DEFAULT_FROM_EMAIL, [address])
    except (OSError, SMTPException) as error:
        messages.error(request, f"No letter was sent to {address}: {error}")
    else:
        messages.success(
            request, f"Mail begins once you follow the link in the letter to {address}."
        )
    return redirect("me")


@require_safe
def confirm_mail(request: HttpRequest, word: str) -> HttpResponse:
    """Write to the address of this letter from now on, for the person who asked for it."""
    try:
        person, address = signing.loads(word, salt=CONFIRMS, max_age=CONFIRMED_WITHIN)
    except signing.BadSignature:
        person = None
    if person != request.user.pk:
        messages.error(
            request, "This link is too old, or another person's; save the address again."
        )
        return redirect("me")
    values = {"address": address, "site": request.build_absolute_uri("/").rstrip("/")}
    MailAddress.objects.update_or_create(person_id=person, defaults=values)
    messages.success(request, f"What you have not read within a minute goes to {address}.")
    return redirect("me")


@require_POST
def log_out_elsewhere(request: HttpRequest) -> HttpResponse:
    """End every other session of the person."""
    others = [s for s in _own(request) if s.session_key != request.session.session_key]
    Session.objects.filter(pk__in=[session.pk for session in others]).delete()
    messages.success(request, f"Logged out elsewhere: {len(others)} sessions.")
    return redirect("me")


def _own(request: HttpRequest) -> list[Session]:
    """The person's sessions that still hold, the newest first."""
    rows = Session.objects.filter(expire_date__gt=timezone.now()).order_by("-expire_date")
    mine: Any = str(request.user.pk)
    return [s for s in rows[:MOST_SESSIONS] if s.get_decoded().get("_auth_user_id") == mine]
