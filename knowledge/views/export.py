"""The whole wiki as one .zip, which imports again to the same records."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from knowledge.exchange.readers.archive import write_archive
from knowledge.exchange.readers.folder import ImportRefused
from knowledge.exchange.snapshot import snapshot
from knowledge.exchange.writers.export import ExportRefused, export_files
from knowledge.views.refusals import refused


@require_safe
def export(request: HttpRequest) -> HttpResponse:
    """A plain folder of documents and specs.json; the same bytes for the same records.

    409 where a document is stored under a path that no folder takes.
    """
    try:
        with snapshot():
            packed = write_archive(export_files())
    except (ExportRefused, ImportRefused) as error:
        return refused(request, error, status=409)
    answer = HttpResponse(packed, content_type="application/zip")
    answer["Content-Disposition"] = 'attachment; filename="kopt-wiki.zip"'
    return answer
