"""Imports of every kind: plan uploaded files, answer what is asked, confirm or drop, and undo."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from django.contrib import messages
from django.core.files import File
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

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
from knowledge.experience.exchange.naming import KEEP, choices_of
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

BATCHES_PER_PAGE = 50
DOCUMENTS_PER_PAGE = 200
LINES_LISTED = 100  # outcomes of one file
QUESTIONS_SHOWN = 200
PROBLEMS_FIRST = ("refused", "withdrawn", "changed", "back", "new", "unchanged")
TROUBLE = frozenset({"unresolved", "left out"})
Row = dict[str, Any]
Uploads: TypeAlias = "Sequence[File[Any]]"


def _plan_documents(files: Uploads, origin: str, by: Any) -> Batch:
    brought = read_uploads(files)
    brought = replace(brought, name=origin or brought.name)
    plan = plan_wiki if len(brought.texts) <= MANY else begin_plan
    return plan(brought, by)


def _plan_experience(files: Uploads, origin: str, by: Any) -> Batch:
    name, texts = read_experience_uploads(files)
    return plan_import(texts, by, origin=name[:120])


def _documents(request: HttpRequest, found: Batch) -> Row:
    rows, other = _rows(found.plan)
    page = Paginator(rows, DOCUMENTS_PER_PAGE).get_page(request.GET.get("page"))
    return {
        "page": page,
        "tallies": _tallies(rows),
        "other_lines": other,
        "counts": _words(found.plan.get("done") or found.plan.get("counts", {})),
        "broken": bool(found.plan.get("refused")),
    }


def _questions(request: HttpRequest, found: Batch) -> Row:
    plan, planned = found.plan, found.state == BatchState.PLANNED
    questions = plan.get("questions", [])
    unnamed = plan.get("unnamed", []) if planned else []
    return {
        "counts": list(plan.get("counts", {}).items()),
        "made": [(name, n) for name, n in plan.get("made", {}).items() if n],
        "questions": [_question(each) for each in questions[:QUESTIONS_SHOWN]] if planned else [],
        "questions_more": max(0, len(questions) - QUESTIONS_SHOWN),
        "open": sum(not each["answer"] for each in questions),
        "unnamed": unnamed,
        "strategies": choices_of("strategy") if unnamed else [],
        "rows": plan.get("rows", []),
        "broken": bool(plan.get("counts", {}).get("error")),
        "keep": KEEP,
    }


@dataclass(frozen=True, slots=True)
class _ImportPages:
    """What the pages of one kind have of their own. limits: of its form."""

    plan: Callable[[Uploads, str, Any], Batch]
    shown: Callable[[HttpRequest, Batch], Row]
    limits: Mapping[str, Any]


PAGES = {
    BatchKind.WIKI: _ImportPages(
        _plan_documents,
        _documents,
        {
            "accept": ".zip,.md,.json",
            "max_files": MAX_FILES,
            "max_mb": MAX_BYTES // 1_000_000,
            "max_total_mb": MAX_TOTAL_BYTES // 1_000_000,
        },
    ),
    BatchKind.EXPERIENCE: _ImportPages(
        _plan_experience,
        _questions,
        {
            "accept": ",".join((".zip", *TAKEN)),
            "max_mb": MAX_FILE_BYTES // 1_000_000,
            "max_rows": f"{MOST_ROWS:,}",
        },
    ),
}


@require_http_methods(["GET", "HEAD", "POST"])
def imports(request: HttpRequest, kind: BatchKind) -> HttpResponse:
    """All imports of a kind, and the form that plans another one."""
    if request.method != "POST":
        return _list(request, kind)
    origin = request.POST.get("origin", "").strip()
    try:
        found = PAGES[kind].plan(request.FILES.getlist("files"), origin, request.user)
    except Forbidden as error:
        return refused(request, error, status=403)
    except ImportRefused as error:
        return _list(request, kind, {"files": str(error)}, origin)
    except CurationError as error:
        return _list(request, kind, {error.field: error.message}, origin)
    except Conflict as error:
        return refused(request, error, status=409)
    return redirect(found)


def _list(
    request: HttpRequest, kind: BatchKind, errors: dict[str, str] | None = None, origin: str = ""
) -> HttpResponse:
    batches = Batch.objects.filter(kind=kind).select_related("author", "undone_by")
    light = batches.defer("files", "plan", "answers")
    context = {
        "kind": kind,
        "page": Paginator(light, BATCHES_PER_PAGE).get_page(request.GET.get("page")),
        "errors": errors or {},
        "origin": origin,
        "can_plan": may_propose(request.user),
        **PAGES[kind].limits,
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
    return _show(request, found)


@require_POST
def decide(request: HttpRequest, number: int, step: str, kind: BatchKind) -> HttpResponse:
    """Take one of `STEPS` on an import."""
    found = _batch(number, kind)
    try:
        said = STEPS[step](request, found)
    except Forbidden as error:
        return refused(request, error, status=403)
    except Conflict as error:
        return _show(request, _batch(number, kind), {"conflict": str(error)}, status=409)
    except CurationError as error:
        return _show(request, _batch(number, kind), {error.field: error.message}, status=422)
    messages.success(request, said)
    return redirect(found)


def _confirm(request: HttpRequest, found: Batch) -> str:
    if found.kind == BatchKind.WIKI and is_large(found):
        begin_import(found, request.user)
        return "It has begun."
    confirm(found, request.user)
    return "The import is done."


def _drop(request: HttpRequest, found: Batch) -> str:
    drop(found, request.user, request.POST.get("why", ""))
    return "The plan is dropped."


def _undo(request: HttpRequest, found: Batch) -> str:
    undo(found, request.user, request.POST.get("why", ""))
    return "The import is undone."


def _answer(request: HttpRequest, found: Batch) -> str:
    keys, said = request.POST.getlist("key"), request.POST.getlist("answer")
    answers = {key: answer for key, answer in zip(keys, said, strict=False) if answer}
    answer_questions(found, answers, request.user, keep_others="keep" in request.POST)
    return "The answers are stored, and the plan is worked out anew."


STEPS: dict[str, Callable[[HttpRequest, Batch], str]] = {
    "confirm": _confirm,
    "drop": _drop,
    "undo": _undo,
    "answer": _answer,
}


def _batch(number: int, kind: BatchKind) -> Batch:
    rows = Batch.objects.numbered(kind, number).select_related("author", "undone_by")
    return get_object_or_404(rows.defer("files"))


def _show(
    request: HttpRequest, found: Batch, errors: dict[str, str] | None = None, status: int = 200
) -> HttpResponse:
    said = errors or {}
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
        **PAGES[BatchKind(found.kind)].shown(request, found),
    }
    return render(request, f"knowledge/imports/{found.kind}.html", context, status=status)


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


def _question(asked: dict[str, Any]) -> dict[str, Any]:
    """With the other names that are accepted, beside the near ones."""
    near = asked["near"]
    others = choices_of(asked["field"]) if asked["name"] else []
    # An answer that a person typed on the command line stays selected.
    known = asked["answer"] in ("", KEEP, *near, *others)
    return asked | {
        "near": near if known else [*near, asked["answer"]],
        "others": [name for name in others if name not in near],
    }
