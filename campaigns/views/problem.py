"""A problem's page, and the pages that add one from a kernel or another collection's files.

A campaign keeps the version that it was created with; by its name a problem is shown as it is now.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.crypto import constant_time_compare, salted_hmac
from django.views.decorators.http import require_http_methods, require_safe

from campaigns.api.measured import problem_record
from campaigns.devices.turns import turn
from campaigns.evaluator.contract.problem import ProblemError
from campaigns.evaluator.contract.problem_reader import with_line
from campaigns.models import Campaign, Case, Problem
from campaigns.problems.import_.collection import read_collection
from campaigns.problems.import_.draft import CallNeeded, DraftError, Given, ProblemDraft
from campaigns.problems.import_.propose import propose
from campaigns.problems.shipped import UnknownProblem
from campaigns.records.explained.profiles import doubts_of_formula
from campaigns.records.problem_rows import read_problem
from campaigns.reports.diff import highlighted
from campaigns.steps.problems import (
    find_problem,
    keep_problem,
    other_versions,
    places_of,
    refuse_shipped,
)
from campaigns.steps.propose_problem import (
    CheckedProblem,
    ProposalFails,
    check_problem,
    propose_problem,
)
from campaigns.views.lookup import may_run
from knowledge.curation.errors import TooManyAtOnce
from knowledge.curation.projects import projects_of
from knowledge.views.formats import record_file

CAMPAIGNS_SHOWN = 20
DESCRIPTION, REFERENCE = "problem.toml", "ref.py"


@require_safe
def problem(request: HttpRequest, problem_id: int) -> HttpResponse:
    """The version that campaigns were created with."""
    found = get_object_or_404(Problem, pk=problem_id)
    named = ""
    # One whose files are no problem any more starts nothing.
    with contextlib.suppress(UnknownProblem, ProblemError):
        named = find_problem(f"{found.slug}@{found.digest}", request.user).name
    return _page(request, found, found.cases.all(), named)


@require_safe
def problem_by_name(request: HttpRequest, name: str) -> HttpResponse:
    """A problem as it is now, shipped or brought; no campaign needs to have it."""
    try:
        known = find_problem(name, request.user)
        read, cases = read_problem(known.spec.folder)
    except (UnknownProblem, ProblemError) as error:
        raise Http404(str(error)) from error
    stored = Problem.objects.filter(slug=read.slug, digest=read.digest).first()
    return _page(request, stored or read, cases, known.name)


def _page(request: HttpRequest, found: Problem, cases: Iterable[Case], named: str) -> HttpResponse:
    """named: by what a campaign finds this version; "" where none can begin with it."""
    cases = list(cases)
    if file := record_file(request, f"problem-{found.slug}", lambda: problem_record(found, cases)):
        return file
    campaigns = Campaign.objects.at_work().filter(problem=found.pk or 0)
    # The description first, then the reference, then v0 by backend, then whatever else it has.
    roles = {DESCRIPTION: "what it is", REFERENCE: "reference and inputs; no candidate sees it"}
    roles |= {name: f"v0, {backend}" for backend, name in sorted(found.backends.items())}
    names = [name for name in roles if name in found.files]
    names += sorted(found.files.keys() - roles.keys())
    lines = [
        {
            "case": case,
            "params": case.params,
            # Cases with the same values dispatch alike; without a name all are one class.
            "config_class": ", ".join(
                f"{name}={case.params[name]}" for name in found.config_class if name in case.params
            ),
            "stands_for_others": case.name in found.representative,
        }
        for case in cases
    ]
    context = {
        "problem": found,
        "cases": lines,
        "files": [
            {
                "name": name,
                "role": roles.get(name, ""),
                "lines": highlighted(found.files[name], name),
            }
            for name in names
        ],
        "campaigns": campaigns.for_list()[:CAMPAIGNS_SHOWN],
        "used": campaigns.count(),
        "doubts": doubts_of_formula(found),
        "named": named,
        "versions": other_versions(found),
    }
    return render(request, "campaigns/problem.html", context)


LARGEST, MOST_FILES = 1 << 20, 8
# The buttons: read what was given, or keep the files as they are; else they are checked.
LOOK, KEPT = "look", "kept"
TEXTS = (
    *("file_name", "kernel", "reference_file", "reference", "calls", "function", "entry"),
    *("outputs", "keep", "name", "title"),
)
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
    "busy": "Not now",
}


@may_run
@require_http_methods(["GET", "HEAD", "POST"])
def new_problem(request: HttpRequest) -> HttpResponse:
    """GET shows the form; POST shows what is proposed, or keeps it and goes to its page."""
    values = {name: request.POST.get(name, "").replace("\r\n", "\n") for name in TEXTS}

    def read_in() -> ProblemDraft:
        _take_uploads(request, values)
        try:
            return propose(_given(values))
        except CallNeeded as asked:
            # What its own words suggest stands in the field, to be looked at and sent.
            values["calls"] = values["calls"].strip() or asked.proposed
            raise

    return _offer(request, "campaigns/new_problem.html", read_in, {"values": values})


def _take_uploads(request: HttpRequest, values: dict[str, str]) -> None:
    """Put the text of a file in the place of what was typed. Raises DraftError."""
    for text, name in (("kernel", "file_name"), ("reference", "reference_file")):
        upload = request.FILES.get(f"{text}_upload")
        if isinstance(upload, UploadedFile):
            values[text], values[name] = _read_text(text, upload), str(upload.name)
        if len(values[text]) > LARGEST:
            raise DraftError(text, f"accepted: at most {LARGEST:,} characters")
    if not values["kernel"].strip() and not values["reference"].strip():
        raise DraftError("kernel", "paste a kernel or a reference, or choose a file")


def _given(values: dict[str, str]) -> Given:
    calls = [line.strip() for line in values["calls"].splitlines()]
    outputs, keep = (values[name].replace(",", " ").split() for name in ("outputs", "keep"))
    kernel, file_name = values["kernel"], values["file_name"].strip()
    if not file_name:
        # A pasted kernel is named by what it is written in.
        is_cpp = "#include" in kernel or 'extern "C"' in kernel
        file_name = "kernel.cpp" if is_cpp else "kernel.py"
        file_name = "kernel.cu" if "__global__" in kernel else file_name
    return Given(
        file_name=file_name,
        kernel=kernel,
        reference_file=values["reference_file"] or "reference.py",
        reference=values["reference"],
        calls=tuple(filter(None, calls)),
        outputs=tuple(outputs),
        keep=tuple(keep),
        entry=values["entry"].strip(),
        function=values["function"].strip(),
        name=values["name"].strip(),
        title=values["title"].strip(),
    )


@may_run
@require_http_methods(["GET", "HEAD", "POST"])
def import_problem(request: HttpRequest) -> HttpResponse:
    """GET shows the form; POST shows what is proposed, or keeps it and goes to its page."""
    given = _posted_files(request, "file_name", "file_text")
    name = request.POST.get("name", "").strip()

    def read_in() -> ProblemDraft:
        if uploads := request.FILES.getlist("files"):
            given.clear()
            given.update({str(one.name): _read_text("files", one) for one in uploads})
        if not given or len(given) > MOST_FILES:
            raise DraftError("files", f"choose 1 to {MOST_FILES} files")
        if any(len(text) > LARGEST for text in given.values()):
            raise DraftError("files", f"accepted: at most {LARGEST:,} characters each")
        return read_collection(given, name)

    context = {"given": given, "name": name}
    return _offer(request, "campaigns/import_problem.html", read_in, context)


def _offer(
    request: HttpRequest, page: str, read_in: Callable[[], ProblemDraft], context: Mapping[str, Any]
) -> HttpResponse:
    """The page with its form, with what is proposed, or a redirect to the problem that was kept.

    read_in: makes a draft of what was given, or raises DraftError. context: of the form.
    """
    files = {} if LOOK in request.POST else _posted_files(request, "problem_file", "problem_text")
    error: DraftError | None = None
    found: CheckedProblem | None = None
    retry_s = 0
    if request.method == "POST":
        try:
            mark = request.POST.get("checked", "")
            if KEPT in request.POST and files and constant_time_compare(mark, _mark(files)):
                return _keep(request, files)
            if any(len(text) > LARGEST for text in files.values()):
                raise ProblemError(f"files: accepted: at most {LARGEST:,} characters each")
            with turn(request.user):
                found = check_problem(files) if files else propose_problem(read_in())
            files = dict(found.files)
            refuse_shipped(found.spec.name)
            if KEPT in request.POST:
                return _keep(request, found.files)
        except TooManyAtOnce as busy:
            error, retry_s = DraftError("busy", str(busy)), busy.retry_s
        except ProposalFails as wrong:
            files = dict(wrong.files)
            error = _about(wrong.why, files)
        except DraftError as wrong:
            error = wrong
        except ProblemError as wrong:
            found, error = None, _about(wrong, files)
    places = places_of(found.spec.name, request.user) if found else []
    more = {
        "error": error,
        "label": LABELS.get(error.field, error.field.capitalize()) if error else "",
        "proposal": found,
        "files": files,
        "places": places,
        "checked": _mark(found.files) if found else "",
        "projects": projects_of(request.user),
        "project": request.POST.get("project", next(iter(places), "")),
    }
    status = 429 if retry_s else 422 if error else 200
    answer = render(request, page, {**context, **more}, status=status)
    if retry_s:
        answer.headers["Retry-After"] = str(retry_s)
    return answer


def _about(wrong: ProblemError, files: Mapping[str, str]) -> DraftError:
    """The same of the files that the page shows, with the line where the error names none."""
    words = str(wrong).removeprefix("problem/")
    return DraftError("problem", with_line(words, files.get(DESCRIPTION, "")))


def _keep(request: HttpRequest, files: Mapping[str, str]) -> HttpResponse:
    problem = keep_problem(files, request.POST.get("project", ""), request.user)
    messages.success(request, f"{problem.title} is kept; a campaign can begin with it.")
    return redirect(problem)


def _mark(files: Mapping[str, str]) -> str:
    """Says that these very files were checked here, so that keeping them need not wait again."""
    return salted_hmac("checked problem", json.dumps(dict(files))).hexdigest()


def _posted_files(request: HttpRequest, name: str, text: str) -> dict[str, str]:
    """File name → text, from two fields that are sent once a file; the first ones of too many."""
    texts = [one.replace("\r\n", "\n") for one in request.POST.getlist(text)]
    return dict(list(zip(request.POST.getlist(name), texts, strict=False))[: MOST_FILES + 1])


def _read_text(field: str, upload: UploadedFile[Any]) -> str:
    """The text of an uploaded file. Raises DraftError for the field."""
    if (upload.size or 0) > LARGEST:
        raise DraftError(field, f"{upload.name}: accepted: at most {LARGEST:,} bytes")
    try:
        return str(upload.read(), "utf-8")
    except UnicodeDecodeError as error:
        raise DraftError(field, f"{upload.name}: not UTF-8 text: {error.reason}") from None
