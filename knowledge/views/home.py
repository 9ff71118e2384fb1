"""Wiki home: its health first, then the platforms, then what changed; and the export."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import PurePosixPath

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from knowledge.api.specs import PlatformSerializer
from knowledge.curation.people import may_propose, may_review
from knowledge.exchange.readers.files import ImportRefused, write_archive
from knowledge.exchange.writers.export import ExportRefused, export_files
from knowledge.exchange.writers.exported_rows import snapshot
from knowledge.lookup.needs import coverage, happenings, health
from knowledge.models import Document, Platform, SpecState
from knowledge.specs.facts import ABSENT_VALUE, UNKNOWN_VALUE
from knowledge.views.actions import refused
from knowledge.views.formats import list_file

HAPPENINGS = 12
HEAD = "name slug vendor arch kind"


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """How the wiki stands, and the way to everything in it; `?format=` gives the platforms."""
    approved = Q(specs__state=SpecState.APPROVED)
    absent = Q(specs__shown__in=[UNKNOWN_VALUE, ABSENT_VALUE])
    platforms = Platform.objects.annotate(
        known=Count("specs", filter=approved & ~absent),
        unknown=Count("specs", filter=approved & Q(specs__shown=UNKNOWN_VALUE)),
    ).order_by("vendor", "arch", "name")
    if file := list_file(request, "platforms", platforms, PlatformSerializer, HEAD):
        return file
    covered = coverage(platforms)
    groups = groupby(platforms, key=lambda platform: platform.vendor)
    paths = Document.objects.filter(withdrawn_at=None).values_list("path", flat=True)
    parents = Counter(str(PurePosixPath(path).parent) for path in paths)
    context = {
        "health": health(),
        # Vendors with their platforms, by architecture, and how far their rooflines are covered.
        "vendors": [(name, [(p, covered[p.pk]) for p in group]) for name, group in groups],
        # Folders with how many documents lie in each; "" is the top.
        "folders": sorted(("" if p == "." else f"{p}/", n) for p, n in parents.items()),
        "happenings": happenings(HAPPENINGS),
        "may_propose": may_propose(request.user),
        "may_review": may_review(request.user),
    }
    return render(request, "knowledge/home.html", context)


@require_safe
def export(request: HttpRequest) -> HttpResponse:
    """A plain folder of documents and specs.json; the same bytes for the same records.

    409 where a document is stored under a path that no folder takes.
    """
    try:
        with snapshot():
            packed = write_archive(export_files())
    except (ExportRefused, ImportRefused) as error:
        return refused(request, error)
    answer = HttpResponse(packed, content_type="application/zip")
    answer["Content-Disposition"] = 'attachment; filename="kopt-wiki.zip"'
    return answer
