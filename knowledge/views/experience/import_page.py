"""One import: its plan with its questions, or what became of it; and the decisions on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.curation.people import may_review
from knowledge.experience.exchange.confirm import confirm_import
from knowledge.experience.exchange.naming import KEEP, choices_of
from knowledge.experience.exchange.plan import answer_questions, drop_import, may_decide_import
from knowledge.experience.exchange.undo import undo_import
from knowledge.models import ExperienceImport, ImportState
from knowledge.views.actions import refused

QUESTIONS_SHOWN = 200
Step = Callable[[ExperienceImport], object]


@require_safe
def import_page(request: HttpRequest, pk: int) -> HttpResponse:
    """One import: its plan, or what became of it."""
    return _show(request, _batch(pk))


@require_POST
def answer_import(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what unknown names mean."""
    keys, said = request.POST.getlist("key"), request.POST.getlist("answer")
    answers = {key: answer for key, answer in zip(keys, said, strict=False) if answer}
    keep = "keep" in request.POST

    def step(batch: ExperienceImport) -> object:
        return answer_questions(batch, answers, request.user, keep_others=keep)

    return _take(request, pk, step, "The answers are stored, and the plan is worked out anew.")


@require_POST
def confirm(request: HttpRequest, pk: int) -> HttpResponse:
    """Do what was planned."""
    return _take(request, pk, lambda b: confirm_import(b, request.user), "The import is done.")


@require_POST
def drop(request: HttpRequest, pk: int) -> HttpResponse:
    """Forget a plan."""
    return _take(request, pk, lambda b: drop_import(b, request.user), "The plan is dropped.")


@require_POST
def undo(request: HttpRequest, pk: int) -> HttpResponse:
    """Take an import back as one."""
    why = request.POST.get("why", "")
    said = "The import is undone: nothing counts its attempts, and people still find them."
    return _take(request, pk, lambda b: undo_import(b, request.user, why), said)


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


def _batch(pk: int) -> ExperienceImport:
    return get_object_or_404(ExperienceImport.objects.select_related("author"), pk=pk)


def _show(
    request: HttpRequest,
    found: ExperienceImport,
    errors: dict[str, str] | None = None,
    status: int = 200,
) -> HttpResponse:
    plan = found.plan
    planned = found.state == ImportState.PLANNED
    questions = plan.get("questions", [])
    shown = [_question(each) for each in questions[:QUESTIONS_SHOWN]] if planned else []
    said = errors or {}
    context = {
        "batch": found,
        "counts": [(name, n) for name, n in plan.get("counts", {}).items()],
        "made": [(name, n) for name, n in plan.get("made", {}).items() if n],
        "questions": shown,
        "questions_more": max(0, len(questions) - QUESTIONS_SHOWN),
        "open": sum(not each["answer"] for each in questions),
        "unnamed": plan.get("unnamed", []) if planned else [],
        "strategies": choices_of("strategy") if planned and plan.get("unnamed") else [],
        "rows": plan.get("rows", []),
        "broken": bool(plan.get("counts", {}).get("error")),
        "conflict": said.get("conflict", ""),
        "why_error": said.get("why", ""),
        "errors": [(name, text) for name, text in said.items() if name not in ("conflict", "why")],
        "why": request.POST.get("why", ""),
        "may_decide": planned and may_decide_import(found, request.user),
        "may_undo": found.state == ImportState.CONFIRMED
        and (may_review(request.user) or may_decide_import(found, request.user)),
        "keep": KEEP,
    }
    return render(request, "knowledge/experience/import.html", context, status=status)


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
