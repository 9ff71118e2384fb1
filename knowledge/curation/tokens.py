"""Tokens of people: made, shown once, taken back."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from knox.settings import CONSTANTS

from knowledge.curation.errors import CurationError
from knowledge.models.token import Scope, Token

USUAL_DAYS, MOST_DAYS = 30, 365
LONGEST_NAME = 80
KEY_LENGTH = CONSTANTS.TOKEN_KEY_LENGTH  # the public beginning of a token, by which it is named


def new_token(
    person: Any, name: str, scopes: Iterable[str], days: int = USUAL_DAYS
) -> tuple[Token, str]:
    """Make a token and return it with its text, which is not stored and never shown again.

    scopes: beside reading, which every token may. days: until it expires, 1 to `MOST_DAYS`. Raises
    CurationError.
    """
    wanted = set(scopes)
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise CurationError("name", f"accepted: a line of 1 to {LONGEST_NAME} characters")
    if unknown := sorted(wanted - set(Scope.values)):
        raise CurationError("scopes", f"'{unknown[0]:.60}'; accepted: {', '.join(Scope.values)}")
    if not 1 <= days <= MOST_DAYS:
        raise CurationError("days", f"{days}; accepted: 1 to {MOST_DAYS}")
    held = [scope.value for scope in Scope if scope in wanted | {Scope.READ}]
    made, text = Token.objects.create(person, timedelta(days=days), name=name, scopes=held)
    return made, text


def tokens_of(person: Any = None) -> QuerySet[Token]:
    """A person's tokens, the oldest first; everybody's without a person."""
    rows: QuerySet[Token] = Token.objects.select_related("user").order_by("created", "digest")
    return rows if person is None else rows.filter(user=person)


def revoke(tokens: QuerySet[Token], key: str) -> Token:
    """Take back the one of these tokens that begins with `key`. Raises CurationError."""
    found = tokens.filter(token_key=key).first() if "\0" not in key else None
    if found is None:
        raise CurationError("key", f"'{key[:60]}'; accepted: the first {KEY_LENGTH} characters")
    digest = found.pk
    found.delete()
    found.pk = digest
    return found


def token_record(token: Token) -> dict[str, Any]:
    """One token as plain values, without what would open anything."""
    return {
        "key": token.token_key,
        "name": token.name,
        "user": token.user.get_username(),
        "scopes": token.scopes,
        "created": token.created.isoformat(timespec="seconds"),
        "expiry": token.expiry.isoformat(timespec="seconds"),
        "used": token.used_at.isoformat(timespec="seconds") if token.used_at else None,
        "expired": token.is_expired,
    }
