"""Imports of every kind: plan uploaded files, answer what is asked, confirm or drop, and undo."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from django.contrib import messages
from django.core.files import File
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from knowledge.api.specs import BatchSerializer
from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.curation.people import may_propose
from knowledge.exchange.batches import (
    confirm,
    drop,
    is_second_person,
    may_decide,
    may_undo,
    second_person_for,
    undo,
)
from knowledge.exchange.in_parts import MANY, begin_import, begin_plan, is_large
from knowledge.exchange.plan import plan_import as plan_wiki
from knowledge.exchange.readers.files import (
    MAX_BYTES,
    MAX_FILES,
    MAX_TOTAL_BYTES,
    ImportRefused,
    read_uploads,
)
from knowledge.experience.exchange.naming import KEEP, UNREAD, choices_of
from knowledge.experience.exchange.plan import (
    MAX_FILE_BYTES,
    answer_questions,
    plan_import,
    read_experience_uploads,
)
from knowledge.experience.readers.recognise import MOST_ROWS, TAKEN
from knowledge.models import Batch, BatchKind, BatchState
from knowledge.models.batch import WORKED_ON
from knowledge.views.actions import refused
from knowledge.views.formats import list_file, record_file

BATCHES_PER_PAGE = 50
DOCUMENTS_PER_PAGE = 200
LINES_LISTED = 100  # outcomes of one file
QUESTIONS_SHOWN = 200
PROBLEMS_FIRST = ("refused", "withdrawn", "changed", "back", "new", "unchanged")
TROUBLE = frozenset({"unresolved", "left out"})
HEAD = "number origin state author created_at decided_at"
Row = dict[str, Any]
Uploads: TypeAlias = "Sequence[File[Any]]"


# What the form of each kind takes.
LIMITS: dict[str, dict[str, Any]] = {
    BatchKind.WIKI: {
        "accept": ".zip,.md,.json",
        "max_files": MAX_FILES,
        "max_mb": MAX_BYTES // 1_000_000,
        "max_total_mb": MAX_TOTAL_BYTES // 1_000_000,
    },
    BatchKind.EXPERIENCE: {
        "accept": ",".join((".zip", *TAKEN)),
        "max_mb": MAX_FILE_BYTES // 1_000_000,
        "max_rows": f"{MOST_ROWS:,}",
    },
}


def _plan(kind: BatchKind, files: Uploads, origin: str, by: Any) -> Batch:
    if kind == BatchKind.EXPERIENCE:
        name, texts = read_experience_uploads(files)
        return plan_import(texts, by, origin=name[:120])
    brought = read_uploads(files)
    brought = replace(brought, name=origin or brought.name)
    return (plan_wiki if len(brought.texts) <= MANY else begin_plan)(brought, by)


@require_http_methods(["GET", "HEAD", "POST"])
def imports(request: HttpRequest, kind: BatchKind) -> HttpResponse:
    """All imports of a kind, and the form that plans another one."""
    if request.method != "POST":
        return _list(request, kind)
    origin = request.POST.get("origin", "").strip()
    try:
        found = _plan(kind, request.FILES.getlist("files"), origin, request.user)
    except (Forbidden, Conflict) as error:
        return refused(request, error)
    except ImportRefused as error:
        return _list(request, kind, {"files": str(error)}, origin)
    except CurationError as error:
        return _list(request, kind, {error.field: error.message}, origin)
    return redirect(found)


def _list(
    request: HttpRequest, kind: BatchKind, errors: dict[str, str] | None = None, origin: str = ""
) -> HttpResponse:
    batches = Batch.objects.filter(kind=kind).select_related("author", "undone_by")
    light = batches.defer("files", "plan", "answers")
    if file := list_file(request, f"{kind}-imports", light, BatchSerializer, HEAD):
        return file
    context = {
        "kind": kind,
        "page": Paginator(light, BATCHES_PER_PAGE).get_page(request.GET.get("page")),
        "errors": errors or {},
        "origin": origin,
        "can_plan": may_propose(request.user),
        **LIMITS[kind],
    }
    return render(request, "knowledge/imports/list.html", context, status=422 if errors else 200)


@require_safe
def batch(request: HttpRequest, number: int, kind: BatchKind) -> HttpResponse:
    """One import: what it would do or did, problems first.

    To htmx, which asks while it is worked on, the page anew when it no longer is.
    """
    found = _batch(number, kind)
    if request.headers.get("HX-Trigger") == "progress" and found.state not in WORKED_ON:
        return HttpResponseClientRefresh()
    file = record_file(request, f"{kind}-import-{number}", found, BatchSerializer)
    return file or _show(request, found)


@require_POST
def decide(request: HttpRequest, number: int, step: str, kind: BatchKind) -> HttpResponse:
    """Answer questions of an import, confirm it, drop its plan, or undo it."""
    found = _batch(number, kind)
    try:
        said = _take(request, found, step)
    except Forbidden as error:
        return refused(request, error)
    except Conflict as error:
        return _show(request, _batch(number, kind), {"conflict": str(error)}, status=409)
    except CurationError as error:
        return _show(request, _batch(number, kind), {error.field: error.message}, status=422)
    messages.success(request, said)
    return redirect(found)


def _take(request: HttpRequest, found: Batch, step: str) -> str:
    """Take the step; what was done, in a sentence."""
    person, why = request.user, request.POST.get("why", "")
    if step == "drop":
        drop(found, person, why)
        return "The plan is dropped."
    if step == "undo":
        undo(found, person, why)
        return "The import is undone."
    if step == "answer":
        keys, said = request.POST.getlist("key"), request.POST.getlist("answer")
        answers = {key: answer for key, answer in zip(keys, said, strict=False) if answer}
        answer_questions(found, answers, person, keep_others="keep" in request.POST)
        return "The answers are stored, and the plan is worked out anew."
    if found.kind == BatchKind.WIKI and is_large(found):
        begin_import(found, person)
        return "It has begun."
    confirm(found, person)
    return "The import is done."


def _batch(number: int, kind: BatchKind) -> Batch:
    rows = Batch.objects.numbered(kind, number).select_related("author", "undone_by")
    return get_object_or_404(rows.defer("files"))


def _show(
    request: HttpRequest, found: Batch, errors: dict[str, str] | None = None, status: int = 200
) -> HttpResponse:
    said, is_wiki = errors or {}, found.kind == BatchKind.WIKI
    planned = found.state == BatchState.PLANNED
    reasons = second_person_for(found) if planned else []
    undoable = found.state == BatchState.CONFIRMED and may_undo(found, request.user)
    apart = {"conflict", "why"} if undoable else {"conflict"}
    context = {
        "batch": found,
        "is_worked_on": found.state in WORKED_ON,
        "errors": said,
        "others": [(name, text) for name, text in said.items() if name not in apart],
        "why": request.POST.get("why", ""),
        "may_decide": planned and may_decide(found, request.user),
        "second_person": [] if is_second_person(found, request.user) else reasons,
        "may_undo": undoable,
        **(_documents(request, found) if is_wiki else _questions(found)),
    }
    return render(request, f"knowledge/imports/{found.kind}.html", context, status=status)


def _documents(request: HttpRequest, found: Batch) -> Row:
    """The documents of a plan with the outcome of their lines, and the lines of other files."""
    plan = found.plan
    lines_of: dict[str, list[Row]] = defaultdict(list)
    for line in plan.get("told", []):
        lines_of[line["file"]].append(line)
    rows = []
    for row in plan.get("documents", []):
        lines = lines_of.pop(row["path"], []) or lines_of.pop(row["path"].removesuffix(".md"), [])
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
    outcomes = Counter(row["outcome"] for row in rows)
    counts = plan.get("done") or plan.get("counts", {})
    return {
        "page": Paginator(rows, DOCUMENTS_PER_PAGE).get_page(request.GET.get("page")),
        "tallies": [(word, outcomes[word]) for word in PROBLEMS_FIRST if outcomes[word]],
        "other_lines": [line for lines in lines_of.values() for line in lines[:LINES_LISTED]],
        "counts": [(name.replace("_", " "), count) for name, count in counts.items()],
        "broken": bool(plan.get("refused")),
    }


def _questions(found: Batch) -> Row:
    """The names of a plan that are not known, with the answers that are accepted, and its rows."""
    plan, planned = found.plan, found.state == BatchState.PLANNED
    asked, unnamed = plan.get("questions", []), plan.get("unnamed", []) if planned else []
    questions = []
    for each in asked[:QUESTIONS_SHOWN] if planned else ():
        near, others = each["near"], choices_of(each["field"]) if each["name"] else []
        # An answer that a person typed on the command line stays selected.
        known = each["answer"] in ("", KEEP, *near, *others)
        offered = near if known else [*near, each["answer"]]
        others = [name for name in others if name not in near]
        questions.append(each | {"near": offered, "others": others})
    return {
        "counts": list(plan.get("counts", {}).items()),
        "made": [(name, n) for name, n in plan.get("made", {}).items() if n],
        "questions": questions,
        "questions_more": max(0, len(asked) - QUESTIONS_SHOWN),
        "open": sum(not each["answer"] for each in asked),
        "unnamed": unnamed,
        "strategies": choices_of("strategy") if unnamed else [],
        "rows": plan.get("rows", []),
        "broken": bool(plan.get("counts", {}).get("error")),
        "may_leave_out": any(each["key"] == UNREAD for each in asked),
        "keep": KEEP,
    }
