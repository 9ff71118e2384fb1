"""What every answer and every line of the log keeps to.

Pages have a strict Content-Security-Policy, nothing from outside and no inline code, and are kept
by no cache that several people share.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from campaigns.evaluator.contract.errors import printable

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)


class PrintableLines(logging.Formatter):
    """Lines of the log without control characters."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


class ContentSecurityPolicy:
    """Adds both headers unless the view has set its own (a self-contained report has a policy)."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        # What a page shows depends on who asks for it.
        response.headers.setdefault("Cache-Control", "private, no-cache")
        return response
