"""Files that a browser saves."""

from __future__ import annotations

from django.http import HttpResponse

ZIP = "application/zip"


def download(content: bytes | str, name: str, content_type: str | None = None) -> HttpResponse:
    """A file under this name, which no foreign text may be in: it goes into a header."""
    response = HttpResponse(content, content_type=content_type)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
