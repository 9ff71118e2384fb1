"""Imported trails: the list with its upload, one trail, one of its rounds, and its files.

What is shown here was claimed by others. None of it is counted with what was measured here.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from campaigns.api.serializers import (
    ImportedRoundSerializer,
    ImportedSerializer,
    WholeImportedSerializer,
)
from campaigns.charts import claimed
from campaigns.models import ImportedCampaign, ImportedRound
from campaigns.steps.lifecycle.import_trail import PlannedImport, import_trail, plan_import
from campaigns.trails.exporters.archive import packed
from campaigns.trails.importers.claims import System, TrailRefused
from campaigns.trails.importers.kernel_opt_skill import ATTEMPT_METRIC
from campaigns.trails.importers.trail import read_zip
from campaigns.views.lookup import ZIP, download
from knowledge.exchange.readers.files import MAX_BYTES, MAX_FILES, MAX_TOTAL_BYTES
from knowledge.specs.citation import split_lines
from knowledge.views.formats import list_file, record_file

PER_PAGE = 50
HEAD = "heading system operator backend platform incumbent imported_at"
ROUNDS_PER_PAGE = 200
FILES_SHOWN = 500


@require_http_methods(["GET", "HEAD", "POST"])
def imported(request: HttpRequest) -> HttpResponse:
    """All imports, and the form that brings another one: `files`, `source`, `plan` or `import`."""
    if request.method != "POST":
        return _list(request)
    if not request.user.has_perm("campaigns.add_campaign"):
        raise PermissionDenied
    file, source = request.FILES.get("trail"), request.POST.get("source", "")
    try:
        if file is None:
            raise TrailRefused("trail: no .zip; accepted: the .zip of one trail")
        if (file.size or 0) > MAX_TOTAL_BYTES:
            raise TrailRefused(f"trail: larger than {MAX_TOTAL_BYTES} bytes; accepted: less")
        if source and source not in tuple(System):
            raise TrailRefused(f"source: {source!r}; accepted: {', '.join(System)}")
        chosen = System(source) if source else None
        planned = plan_import(read_zip(file.name or "", file.read()), chosen)
    except TrailRefused as error:
        return _list(request, error=str(error), status=422)
    if "plan" in request.POST:
        return _list(request, planned=planned)
    row, is_new = import_trail(planned, request.user)
    outcome = "is imported" if is_new else "was there already, with the same content"
    messages.success(request, f"{row.heading} {outcome}.")
    return redirect(row)


def _list(
    request: HttpRequest, error: str = "", planned: PlannedImport | None = None, status: int = 200
) -> HttpResponse:
    rows = ImportedCampaign.objects.select_related("imported_by")
    heavy = rows.defer("facts", "tips", "missing", "left_out")
    if file := list_file(request, "imported", heavy, ImportedSerializer, HEAD):
        return file
    context = {
        "page": Paginator(heavy, PER_PAGE).get_page(request.GET.get("page")),
        "systems": list(System),
        "source": request.POST.get("source", ""),
        "error": error,
        "planned": planned,
        "max_files": MAX_FILES,
        "max_mb": MAX_BYTES // 1_000_000,
        "max_total_mb": MAX_TOTAL_BYTES // 1_000_000,
    }
    return render(request, "campaigns/imported.html", context, status=status)


def claims_of(
    campaign: ImportedCampaign, rounds: Iterable[ImportedRound]
) -> claimed.ClaimedChart | None:
    """The trend of what some of its rounds claim; of several units in the first."""
    rows = list(rounds)
    unit = next((one.unit for one in rows if one.figure is not None), "")
    points = [
        claimed.ClaimedPoint(one.ordinal, one.name, one.figure, one.kept, one.masked)
        for one in rows
        # Experiences are of many kernels, so their times make no trend.
        if one.figure and one.unit == unit and one.metric != ATTEMPT_METRIC
    ]
    return claimed.build(points, unit, lambda n: reverse("imported_round", args=[campaign.pk, n]))


@require_safe
def imported_campaign(request: HttpRequest, key: int) -> HttpResponse:
    """One trail: what it says of itself, the trend of its claims, its rounds and files."""
    campaign = _campaign(key)
    if file := record_file(request, f"imported-{key}", campaign, WholeImportedSerializer):
        return file
    rounds = campaign.rounds.defer("claims")
    page = Paginator(rounds, ROUNDS_PER_PAGE).get_page(request.GET.get("page"))
    paths = sorted(campaign.files)
    conventions = [one.convention for one in page if one.convention]
    context = {
        "campaign": campaign,
        "page": page,
        "chart": claims_of(campaign, page),
        "figures": reverse("imported_campaign", args=[campaign.pk]) + "figures/",
        "conventions": list(dict.fromkeys(conventions)),
        "paths": paths[:FILES_SHOWN],
        "more_files": max(0, len(paths) - FILES_SHOWN),
        "files": len(paths),
    }
    return render(request, "campaigns/imported_campaign.html", context)


@require_safe
def imported_round(request: HttpRequest, key: int, ordinal: int) -> HttpResponse:
    """One attempt with every claim of it, each linked to its line."""
    campaign = _campaign(key)
    one = get_object_or_404(campaign.rounds, ordinal=ordinal)
    name = f"imported-{key}-round-{ordinal}"
    if file := record_file(request, name, one, ImportedRoundSerializer):
        return file
    return render(request, "campaigns/imported_round.html", {"campaign": campaign, "round": one})


@require_safe
def imported_file(request: HttpRequest, key: int, path: str) -> HttpResponse:
    """A file as it came, with its lines."""
    campaign = _campaign(key)
    if path not in campaign.files:
        raise Http404(f"import {key} has no file {path!r:.200}")
    context = {"campaign": campaign, "path": path, "lines": split_lines(campaign.files[path])}
    return render(request, "campaigns/imported_file.html", context)


@require_safe
def imported_archive(request: HttpRequest, key: int) -> HttpResponse:
    """The files as they came, in one .zip."""
    campaign = _campaign(key)
    # The name is somebody else's: only a number of ours goes into a header.
    return download(packed(campaign.name, campaign.files), f"imported-{campaign.pk}.zip", ZIP)


def _campaign(key: int) -> ImportedCampaign:
    return get_object_or_404(ImportedCampaign.objects.select_related("imported_by"), pk=key)
