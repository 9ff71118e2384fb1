"""What both pages that bring a problem share: its files are shown, corrected, checked and kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.crypto import constant_time_compare, salted_hmac

from campaigns.evaluator.problem import ProblemError
from campaigns.evaluator.problem.toml_line import with_line
from campaigns.models import Problem
from campaigns.problems.import_.draft import DraftError, ProblemDraft
from campaigns.steps.problems import keep_problem, refuse_shipped
from campaigns.steps.propose_problem import (
    CheckedProblem,
    ProposalFails,
    check_problem,
    propose_problem,
)

LARGEST, MOST_FILES = 1 << 20, 8
# The buttons: read what was given, or keep the files as they are; else they are checked.
LOOK, KEPT = "look", "kept"
TOML = "problem.toml"
# What an error is about → what the pages call it.
LABELS = {
    "kernel": "Kernel",
    "reference": "Reference",
    "call": "Example calls",
    "entry": "Function that launches the kernel",
    "outputs": "Arguments that a call writes",
    "keep": "Sizes that stay as they are",
    "name": "Name of the problem",
    "problem": "The problem's files",
}


def offer_problem(
    request: HttpRequest, page: str, read_in: Callable[[], ProblemDraft], context: Mapping[str, Any]
) -> HttpResponse:
    """The page with its form, with what is proposed, or a redirect to the problem that was kept.

    read_in: makes a draft of what was given, or raises DraftError. context: of the form.
    """
    files = {} if LOOK in request.POST else posted_files(request, "problem_file", "problem_text")
    error: DraftError | None = None
    found: CheckedProblem | None = None
    if request.method == "POST":
        try:
            if KEPT in request.POST and _was_checked(request, files):
                return _keep(request, files)
            found = _looked_at(files, read_in)
            files = dict(found.files)
            refuse_shipped(found.spec.name)
            if KEPT in request.POST:
                return _keep(request, found.files)
        except ProposalFails as wrong:
            files = dict(wrong.files)
            error = _about(wrong.why, files)
        except DraftError as wrong:
            error = wrong
        except ProblemError as wrong:
            found, error = None, _about(wrong, files)
    more = {
        "error": error,
        "label": LABELS.get(error.field, error.field.capitalize()) if error else "",
        "proposal": found,
        "files": files,
        "is_revision": found and Problem.objects.filter(slug=found.spec.name).exists(),
        "checked": _mark(found.files) if found else "",
    }
    return render(request, page, {**context, **more}, status=422 if error else 200)


def _about(wrong: ProblemError, files: Mapping[str, str]) -> DraftError:
    """The same of the files that the page shows, with the line where the error names none."""
    words = str(wrong).removeprefix("problem/")
    return DraftError("problem", with_line(words, files.get(TOML, "")))


def _looked_at(files: Mapping[str, str], read_in: Callable[[], ProblemDraft]) -> CheckedProblem:
    """Raises DraftError for what was given, ProblemError for files that were corrected."""
    if any(len(text) > LARGEST for text in files.values()):
        raise ProblemError(f"files: accepted: at most {LARGEST:,} characters each")
    return check_problem(files) if files else propose_problem(read_in())


def _keep(request: HttpRequest, files: Mapping[str, str]) -> HttpResponse:
    problem = keep_problem(files)
    messages.success(request, f"{problem.title} is kept; a campaign can begin with it.")
    return redirect("problem_by_name", problem.slug)


def _mark(files: Mapping[str, str]) -> str:
    """Says that these very files were checked here, so that keeping them need not wait again."""
    return salted_hmac("checked problem", json.dumps(dict(files))).hexdigest()


def _was_checked(request: HttpRequest, files: Mapping[str, str]) -> bool:
    return bool(files) and constant_time_compare(request.POST.get("checked", ""), _mark(files))


def posted_files(request: HttpRequest, name: str, text: str) -> dict[str, str]:
    """File name → text, from two fields that are sent once a file; the first ones of too many."""
    texts = [one.replace("\r\n", "\n") for one in request.POST.getlist(text)]
    return dict(list(zip(request.POST.getlist(name), texts, strict=False))[: MOST_FILES + 1])


def read_text(field: str, upload: UploadedFile[Any]) -> str:
    """The text of an uploaded file. Raises DraftError for the field."""
    if (upload.size or 0) > LARGEST:
        raise DraftError(field, f"{upload.name}: accepted: at most {LARGEST:,} bytes")
    try:
        return str(upload.read(), "utf-8")
    except UnicodeDecodeError as error:
        raise DraftError(field, f"{upload.name}: not UTF-8 text: {error.reason}") from None
