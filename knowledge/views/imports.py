"""Imports: upload a folder, look at its plan, confirm or drop it, and take it back as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.curation.people import may_propose, may_review
from knowledge.exchange.confirm import (
    confirm,
    drop,
    is_second_person,
    may_decide,
    second_person_for,
)
from knowledge.exchange.in_parts import MANY, begin_import, begin_plan, is_large
from knowledge.exchange.plan import plan_import
from knowledge.exchange.readers.archive import read_uploads
from knowledge.exchange.readers.folder import MAX_BYTES, MAX_FILES, MAX_TOTAL_BYTES, ImportRefused
from knowledge.exchange.undo import undo
from knowledge.models import Batch, BatchState
from knowledge.models.document import WORKED_ON
from knowledge.views.actions import refused

BATCHES_PER_PAGE = 50
DOCUMENTS_PER_PAGE = 200
LINES_LISTED = 100  # outcomes of one file
PROBLEMS_FIRST = ("refused", "withdrawn", "changed", "back", "new", "unchanged")
TROUBLE = frozenset({"unresolved", "left out"})
Row = dict[str, Any]
Step = Callable[[Batch], object]


@require_http_methods(["GET", "HEAD", "POST"])
def imports(request: HttpRequest) -> HttpResponse:
    """All imports, and the form that plans another one."""
    if request.method != "POST":
        return _list(request)
    origin = request.POST.get("origin", "").strip()
    try:
        brought = read_uploads(request.FILES.getlist("files"))
        brought = replace(brought, name=origin or brought.name)
        plan = plan_import if len(brought.texts) <= MANY else begin_plan
        batch = plan(brought, request.user)
    except Forbidden as error:
        return refused(request, error, status=403)
    except ImportRefused as error:
        return _list(request, {"files": str(error)}, origin)
    except CurationError as error:
        return _list(request, {error.field: error.message}, origin)
    except Conflict as error:
        return refused(request, error, status=409)
    return redirect(batch)


def _list(
    request: HttpRequest, errors: dict[str, str] | None = None, origin: str = ""
) -> HttpResponse:
    batches = Batch.objects.select_related("author", "undone_by").defer("files", "plan")
    page = Paginator(batches, BATCHES_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "errors": errors or {},
        "origin": origin,
        "can_plan": may_propose(request.user),
        "max_files": MAX_FILES,
        "max_mb": MAX_BYTES // 1_000_000,
        "max_total_mb": MAX_TOTAL_BYTES // 1_000_000,
    }
    return render(request, "knowledge/imports.html", context, status=422 if errors else 200)


@require_safe
def batch(request: HttpRequest, pk: int) -> HttpResponse:
    """One import: what it would do or did, document by document, problems first.

    To htmx, which asks while it is worked on, the page anew when it no longer is.
    """
    found = _batch(pk)
    if request.headers.get("HX-Trigger") == "progress" and found.state not in WORKED_ON:
        return HttpResponseClientRefresh()
    return _show(request, found)


@require_POST
def confirm_batch(request: HttpRequest, pk: int) -> HttpResponse:
    """Do what was planned."""
    if is_large(_batch(pk)):
        return _take(request, pk, lambda found: begin_import(found, request.user), "It has begun.")
    return _take(request, pk, lambda found: confirm(found, request.user), "The import is done.")


@require_POST
def drop_batch(request: HttpRequest, pk: int) -> HttpResponse:
    """Forget a plan."""
    why = request.POST.get("why", "")
    return _take(request, pk, lambda found: drop(found, request.user, why), "The plan is dropped.")


@require_POST
def undo_batch(request: HttpRequest, pk: int) -> HttpResponse:
    """Take an import back as one."""
    why = request.POST.get("why", "")
    said = "The import is undone; earlier texts stand again as new revisions."
    return _take(request, pk, lambda found: undo(found, request.user, why), said)


def _take(request: HttpRequest, pk: int, step: Step, said: str) -> HttpResponse:
    found = _batch(pk)
    try:
        step(found)
    except Forbidden as error:
        return refused(request, error, status=403)
    except Conflict as error:
        return _show(request, _batch(pk), {"conflict": str(error)}, status=409)
    except CurationError as error:
        return _show(request, _batch(pk), {error.field: error.message}, status=422)
    messages.success(request, said)
    return redirect(found)


def _batch(pk: int) -> Batch:
    found = Batch.objects.select_related("author", "undone_by").defer("files")
    return get_object_or_404(found, pk=pk)


def _show(
    request: HttpRequest, found: Batch, errors: dict[str, str] | None = None, status: int = 200
) -> HttpResponse:
    plan = found.plan
    rows, other = _rows(plan)
    page = Paginator(rows, DOCUMENTS_PER_PAGE).get_page(request.GET.get("page"))
    planned = found.state == BatchState.PLANNED
    reasons = second_person_for(found) if planned else []
    context = {
        "batch": found,
        "is_worked_on": found.state in WORKED_ON,
        "page": page,
        "tallies": _tallies(rows),
        "other_lines": other,
        "counts": _words(plan.get("done") or plan.get("counts", {})),
        "errors": errors or {},
        "why": request.POST.get("why", ""),
        "may_decide": planned and may_propose(request.user) and may_decide(found, request.user),
        "may_confirm": planned and not plan.get("refused"),
        "second_person": [] if is_second_person(found, request.user) else reasons,
        "may_undo": found.state == BatchState.CONFIRMED and may_review(request.user),
    }
    return render(request, "knowledge/batch.html", context, status=status)


def _rows(plan: Row) -> tuple[list[Row], list[Row]]:
    """The documents of a plan with the outcome of their lines, and the lines of other files."""
    told: dict[str, list[Row]] = defaultdict(list)
    for line in plan.get("told", []):
        told[line["file"]].append(line)
    rows = []
    for row in plan.get("documents", []):
        lines = told.pop(row["path"], []) or told.pop(row["path"].removesuffix(".md"), [])
        lines.sort(key=lambda line: (line["fate"] not in TROUBLE, line["line"]))
        trouble = any(line["fate"] in TROUBLE for line in lines)
        broken = [citation for citation in row["citations"] if citation["state"] != "moved"]
        row |= {
            "broken": broken,
            "moved": [citation for citation in row["citations"] if citation["state"] == "moved"],
            "warned": sum(bool(spec["warnings"]) for spec in row["specs"]),
            "lines": lines[:LINES_LISTED],
            "lines_more": max(0, len(lines) - LINES_LISTED),
            "problem": row["outcome"] in ("refused", "withdrawn") or trouble or bool(broken),
        }
        rows.append(row)
    order = PROBLEMS_FIRST.index
    rows.sort(key=lambda row: (not row["problem"], order(row["outcome"]), row["path"]))
    return rows, [line for lines in told.values() for line in lines[:LINES_LISTED]]


def _tallies(rows: list[Row]) -> list[tuple[str, int]]:
    found = [(word, sum(row["outcome"] == word for row in rows)) for word in PROBLEMS_FIRST]
    return [(word, count) for word, count in found if count]


def _words(counts: dict[str, int]) -> list[tuple[str, int]]:
    return [(name.replace("_", " "), count) for name, count in counts.items()]
