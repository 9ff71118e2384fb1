"""A problem's page, and the pages that add one from a kernel or another collection's files.

A campaign keeps the version that it was created with; by its name a problem is shown as it is now.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods, require_safe

from campaigns.evaluator.contract.problem import ProblemError
from campaigns.evaluator.contract.problem_reader import with_line
from campaigns.models import Campaign, Case, Problem
from campaigns.problems.import_.draft import DraftError, Given, ProblemDraft
from campaigns.problems.import_.propose import propose
from campaigns.records.problem_rows import read_problem
from campaigns.reports.diff import highlighted
from campaigns.steps.problems import keep_problem, known_problems, refuse_shipped
from campaigns.steps.propose_problem import (
    CheckedProblem,
    ProposalFails,
    check_problem,
    propose_problem,
)
from campaigns.views.lookup import may_run

CAMPAIGNS_SHOWN = 20
DESCRIPTION, REFERENCE = "problem.toml", "ref.py"


@dataclass(frozen=True, slots=True)
class CaseLine:
    """One case. config_class: the values that name its class; empty where all are one class."""

    case: Case
    params: dict[str, object]
    config_class: str
    stands_for_others: bool


@dataclass(frozen=True, slots=True)
class File:
    """One file of the problem. role: what it is for."""

    name: str
    role: str
    lines: list[SafeString]


@require_safe
def problem(request: HttpRequest, problem_id: int) -> HttpResponse:
    """The version that campaigns were created with."""
    found = get_object_or_404(Problem, pk=problem_id)
    can_start = any(spec.name == found.slug for spec in known_problems())
    return _page(request, found, found.cases.all(), can_start=can_start)


@require_safe
def problem_by_name(request: HttpRequest, name: str) -> HttpResponse:
    """A problem as it is now, shipped or brought; no campaign needs to have it."""
    spec = next((one for one in known_problems() if one.name == name), None)
    if spec is None:
        raise Http404(f"problem: {name!r} is not known")
    try:
        read, cases = read_problem(spec.folder)
    except ProblemError as error:
        raise Http404(str(error)) from error
    stored = Problem.objects.filter(slug=read.slug, digest=read.digest).first()
    return _page(request, stored or read, cases, can_start=True)


def _page(
    request: HttpRequest, found: Problem, cases: Iterable[Case], *, can_start: bool
) -> HttpResponse:
    campaigns = Campaign.objects.filter(problem=found.pk) if found.pk else Campaign.objects.none()
    context = {
        "problem": found,
        "cases": [_line(found, case) for case in cases],
        "files": _files(found),
        "campaigns": campaigns.for_list()[:CAMPAIGNS_SHOWN],
        "used": campaigns.count(),
        "can_start": can_start,
        "versions": Problem.objects.filter(slug=found.slug).exclude(pk=found.pk),
    }
    return render(request, "campaigns/problem.html", context)


def _line(found: Problem, case: Case) -> CaseLine:
    values = [f"{name}={case.params[name]}" for name in found.config_class if name in case.params]
    return CaseLine(case, case.params, ", ".join(values), case.name in found.representative)


def _files(found: Problem) -> list[File]:
    """The description first, then the reference, then v0 by backend, then whatever else it has."""
    roles = {DESCRIPTION: "what it is", REFERENCE: "reference and inputs; no candidate sees it"}
    for backend, name in sorted(found.backends.items()):
        roles[name] = f"v0, {backend}"
    named = [name for name in roles if name in found.files]
    rest = sorted(name for name in found.files if name not in roles)
    return [
        File(name, roles.get(name, ""), highlighted(found.files[name], name))
        for name in (*named, *rest)
    ]


TEXTS = (
    *("file_name", "kernel", "reference_file", "reference", "calls", "function", "entry"),
    *("outputs", "keep", "name", "title"),
)


@may_run
@require_http_methods(["GET", "HEAD", "POST"])
def new_problem(request: HttpRequest) -> HttpResponse:
    """GET shows the form; POST shows what is proposed, or keeps it and goes to its page."""
    values = {name: request.POST.get(name, "").replace("\r\n", "\n") for name in TEXTS}

    def read_in() -> ProblemDraft:
        _take_uploads(request, values)
        return propose(_given(values))

    return offer_problem(request, "campaigns/new_problem.html", read_in, {"values": values})


def _take_uploads(request: HttpRequest, values: dict[str, str]) -> None:
    """Put the text of a file in the place of what was typed. Raises DraftError."""
    for text, name in (("kernel", "file_name"), ("reference", "reference_file")):
        upload = request.FILES.get(f"{text}_upload")
        if isinstance(upload, UploadedFile):
            values[text], values[name] = read_text(text, upload), str(upload.name)
        if len(values[text]) > LARGEST:
            raise DraftError(text, f"accepted: at most {LARGEST:,} characters")
    if not values["kernel"].strip() and not values["reference"].strip():
        raise DraftError("kernel", "paste a kernel or a reference, or choose a file")


def _given(values: dict[str, str]) -> Given:
    calls = [line.strip() for line in values["calls"].splitlines()]
    return Given(
        file_name=values["file_name"].strip() or _guessed(values["kernel"]),
        kernel=values["kernel"],
        reference_file=values["reference_file"] or "reference.py",
        reference=values["reference"],
        entry=values["entry"].strip(),
        function=values["function"].strip(),
        calls=tuple(filter(None, calls)),
        outputs=_words(values["outputs"]),
        keep=_words(values["keep"]),
        name=values["name"].strip(),
        title=values["title"].strip(),
    )


def _words(listed: str) -> tuple[str, ...]:
    return tuple(listed.replace(",", " ").split())


def _guessed(text: str) -> str:
    """A name for a pasted kernel, by what it is written in."""
    if "__global__" in text:
        return "kernel.cu"
    return "kernel.cpp" if "#include" in text or 'extern "C"' in text else "kernel.py"


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
