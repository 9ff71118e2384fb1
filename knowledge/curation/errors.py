"""Why a step of curation is refused."""

from __future__ import annotations


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
