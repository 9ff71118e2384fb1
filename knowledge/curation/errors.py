"""Why a step of curation is refused, and which text people may write."""

from __future__ import annotations

LONGEST_REASON = 2000  # characters
LONGEST_BATCH_REASON = 300  # characters; the column of an import


class CurationError(ValueError):
    """Bad input: `field` names what is wrong, the message what is accepted."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class Forbidden(PermissionError):
    """This person may not do this (HTTP 403)."""


class Conflict(RuntimeError):
    """Somebody else was first, or something has to be answered before (HTTP 409)."""


class TooManyAtOnce(Exception):
    """Refused for now, whatever was sent (HTTP 429). retry_s: when to try again."""

    def __init__(self, field: str, why: str, retry_s: int) -> None:
        super().__init__(f"{why}; try again in {retry_s} s.")
        self.field, self.retry_s = field, retry_s


def require_storable(field: str, text: str, most: int = LONGEST_REASON) -> str:
    """The text itself. CurationError names the field where it is too long or no database text.

    PostgreSQL stores neither NUL nor half of a surrogate pair; SQLite would take the first.
    """
    if "\0" in text:
        raise CurationError(field, "it holds a NUL character; accepted: text without")
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise CurationError(field, "it is not Unicode text; accepted: UTF-8")
    if len(text) > most:
        raise CurationError(field, f"{len(text)} characters; accepted: at most {most}")
    return text


def require_reason(why: str, most: int = LONGEST_REASON) -> str:
    """The reason without outer blanks; CurationError where there is none."""
    if not why.strip():
        raise CurationError("why", "a reason is needed; it is kept in the history")
    return require_storable("why", why.strip(), most)
