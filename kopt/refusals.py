"""Why a request is refused where no view says so: one sentence, as a page or as JSON."""

from __future__ import annotations

import logging
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.middleware.csrf import get_token
from django.template.loader import render_to_string

from knowledge.api.problems import ProblemRenderer, refusal_record
from knowledge.curation.errors import TooManyAtOnce
from knowledge.lookup.database import MissingMigrations, full_disk, require_migrations
from knowledge.lookup.listing import FilterError, NotKnown

log = logging.getLogger(__name__)

SILENT = "The database does not answer; kopt goes on by itself when it is back."
SILENT_S = 5
OURS = "kopt has made a mistake; its log has the details."


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP status with its sentence. field: what is wrong. retry_s: when to try again."""

    status: int
    title: str
    message: str
    field: str | None = None
    retry_s: int = 0


class Refusals:
    """Answers what a view has raised and could not answer, and all while tables are missing."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            require_migrations()
        except (DatabaseError, InterfaceError) as error:
            refusal = refusal_of(error)
            if refusal is None:
                raise
            return refused(request, refusal)
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        refusal = refusal_of(error)
        if refusal is None:
            return None
        if refusal.status >= 500:
            log.warning("%s: %s: %s", request.path, refusal.title, error)
        return refused(request, refusal)


def refusal_of(error: Exception) -> Refusal | None:
    """What is answered for this error; None for a mistake of our own."""
    if isinstance(error, TooManyAtOnce):
        return Refusal(429, "Too many at once", str(error), error.field, error.retry_s)
    if isinstance(error, MissingMigrations):
        return Refusal(503, "Not prepared", str(error), "database", SILENT_S)
    if isinstance(error, FilterError):
        return Refusal(400, "Not understood", str(error), error.field)
    if isinstance(error, NotKnown):
        return Refusal(404, "Not found", str(error), "platform")
    if said := full_disk(error):
        return Refusal(507, "Disk full", said)
    if isinstance(error, OperationalError | InterfaceError):
        # One that did answer, to a statement that it cannot understand, is our own mistake.
        code = getattr(error.__cause__, "sqlite_errorcode", None)
        if code != sqlite3.SQLITE_ERROR:
            return Refusal(503, "No database", SILENT, "database", SILENT_S)
    return None


def refused(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    """The refusal as JSON where that was asked for, else as a page that needs no database."""
    wanted = request.get_preferred_type(["text/html", "application/json"])
    if request.path.startswith("/api/v1/") or wanted == "application/json":
        record = refusal_record(refusal.status, refusal.field, refusal.message)
        kind = ProblemRenderer.media_type
        answer: HttpResponse = JsonResponse(record, status=refusal.status, content_type=kind)
    else:
        shown = {"refusal": refusal, "request": request, "csrf_token": get_token(request)}
        # A page that failed is none to take along.
        request.has_files = False  # type: ignore[attr-defined]
        page = render_to_string("refused.html", shown)
        answer = HttpResponse(page, status=refusal.status)
    if refusal.retry_s:
        answer.headers["Retry-After"] = str(refusal.retry_s)
    return answer


def server_error(request: HttpRequest) -> HttpResponse:
    """What nothing else has answered; Django calls it while the error is being handled."""
    error = sys.exc_info()[1]
    refusal = refusal_of(error) if isinstance(error, Exception) else None
    return refused(request, refusal or Refusal(500, "A mistake of kopt's", OURS))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """A request that Django itself refuses, with the limit that it is over."""
    most = {
        RequestDataTooBig: (413, "bytes beside files", settings.DATA_UPLOAD_MAX_MEMORY_SIZE),
        TooManyFieldsSent: (400, "fields", settings.DATA_UPLOAD_MAX_NUMBER_FIELDS),
        TooManyFilesSent: (400, "files", settings.DATA_UPLOAD_MAX_NUMBER_FILES),
    }
    for kind, (status, what, limit) in most.items():
        if isinstance(exception, kind):
            said = f"body: too many {what}; accepted: up to {limit:,}"
            return refused(request, Refusal(status, "Too much", said, "body"))
    said = str(exception) if isinstance(exception, MultiPartParserError) else "not understood"
    return refused(request, Refusal(400, "Bad request", f"request: {said}"))
