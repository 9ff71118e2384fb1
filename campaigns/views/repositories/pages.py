"""The list of repositories, one of them, one round, and what was kept as files."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from campaigns.lineage.git import LineageError
from campaigns.lineage.own_repository import OwnRepository
from campaigns.models import Repository
from campaigns.reports.diff import DiffMark
from campaigns.reports.repositories.sheet import line_of, sheet_of, summaries_of
from campaigns.rules.stop.repairs import MENDABLE
from campaigns.steps.repositories.stop_repository import stop_repository
from campaigns.views.lookup import download, may_change, wants_fragment
from campaigns.views.repositories.lookup import repository_at, repository_round_at

PER_PAGE = 50
FILES = {
    "patch": lambda own, row: own.patch(row.base, row.head),
    "bundle": lambda own, row: own.bundle(row.base, row.branch),
}


@require_safe
def repositories(request: HttpRequest) -> HttpResponse:
    """All of them, the newest first."""
    rows = (
        Repository.objects.select_related("platform")
        .annotate(tried=Count("rounds"))
        .order_by("-pk")
    )
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "summaries": summaries_of(page)}
    return render(request, "campaigns/repositories/list.html", context)


@require_safe
@vary_on_headers("HX-Request")
def repository(request: HttpRequest, key: int) -> HttpResponse:
    """One repository; for htmx its changing part alone."""
    sheet = sheet_of(repository_at(key))
    context = {"sheet": sheet, "summary": sheet.summary, "repository": sheet.repository}
    part = "rounds.html" if wants_fragment(request) else "repository.html"
    return render(request, f"campaigns/repositories/{part}", context)


@require_safe
@vary_on_headers("HX-Request")
def repository_round(request: HttpRequest, key: int, number: int) -> HttpResponse:
    """One round; for htmx its result alone."""
    row = repository_round_at(key, number)
    context = {
        "line": line_of(row),
        "round": row,
        "repository": row.repository,
        "metric": row.repository.described.metric,
        "can_repair": row.reason in MENDABLE and not row.is_baseline,
    }
    if wants_fragment(request):
        return render(request, "campaigns/repositories/result.html", context)
    context["patch"] = [_patch_line(line) for line in row.patch.splitlines()]
    return render(request, "campaigns/repositories/round.html", context)


def _patch_line(line: str) -> dict[str, str]:
    is_change = not line.startswith(("+++", "---"))
    mark = {"+": DiffMark.ADDED, "-": DiffMark.REMOVED}.get(line[:1]) if is_change else None
    return {"text": line, "mark": str(mark or DiffMark.SAME)}


@require_safe
def kept_file(request: HttpRequest, key: int, kind: str) -> HttpResponse:
    """What was kept, as a patch for `git am` or a bundle for `git fetch`."""
    row = repository_at(key)
    if row.head == row.base:
        raise Http404(f"repository {key}: no round has been kept")
    try:
        data = FILES[kind](OwnRepository(row.pk), row)
    except LineageError as error:
        messages.error(request, str(error))
        return redirect(row)
    return download(data, f"{row.title}.{kind}", "application/octet-stream")


@may_change
@require_POST
def stop(request: HttpRequest, key: int) -> HttpResponse:
    """Try no more of it."""
    row = repository_at(key)
    if stop_repository(row, request.user):
        messages.success(request, "Stopped. What was kept stays on its branch.")
    return redirect(row)
