"""The whole wiki as one .zip, which imports again to the same records."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from knowledge.archive import write_archive
from knowledge.curation.export import export_texts


@require_safe
def export(request: HttpRequest) -> HttpResponse:
    """A plain folder of documents and specs.json; the same bytes for the same records."""
    answer = HttpResponse(write_archive(export_texts()), content_type="application/zip")
    answer["Content-Disposition"] = 'attachment; filename="kopt-wiki.zip"'
    return answer
