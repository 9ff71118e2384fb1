"""A new problem: a kernel and a reference, what kopt makes of them, and the word to keep it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from campaigns.evaluator.problem import ProblemError
from campaigns.problems.import_.draft import DraftError
from campaigns.problems.import_.given import Given
from campaigns.problems.import_.propose import propose
from campaigns.reports.highlight import highlighted
from campaigns.steps.problems.keep_problem import keep_problem
from campaigns.steps.problems.propose_problem import ProposedProblem, propose_problem
from campaigns.views.lookup import may_run

LARGEST = 1 << 20
TEXTS = (
    *("file_name", "kernel", "reference_file", "reference", "calls", "function", "entry"),
    *("outputs", "name", "title"),
)
KEPT = "kept"


@may_run
@require_http_methods(["GET", "HEAD", "POST"])
def new_problem(request: HttpRequest) -> HttpResponse:
    """GET shows the form; POST shows what is proposed, or keeps it and goes to its page."""
    values = dict.fromkeys(TEXTS, "")
    error, found = None, None
    if request.method == "POST":
        try:
            values = _values(request)
            found = propose_problem(propose(_given(values)))
            if KEPT in request.POST:
                problem = keep_problem(found.files)
                messages.success(request, f"{problem.title} is kept; a campaign can begin with it.")
                return redirect("problem_by_name", problem.slug)
        except DraftError as wrong:
            error = wrong
        except ProblemError as wrong:
            error = DraftError("name", str(wrong))
    context = {"values": values, "error": error, "proposal": found, "files": shown_files(found)}
    return render(request, "campaigns/new_problem.html", context, status=422 if error else 200)


def _values(request: HttpRequest) -> dict[str, str]:
    """What was typed, with the text of a file in its place where one was chosen."""
    values = {name: request.POST.get(name, "").replace("\r\n", "\n") for name in TEXTS}
    for text, name in (("kernel", "file_name"), ("reference", "reference_file")):
        upload = request.FILES.get(f"{text}_upload")
        if isinstance(upload, UploadedFile):
            values[text], values[name] = read_text(text, upload), str(upload.name)
        if len(values[text]) > LARGEST:
            raise DraftError(text, f"accepted: at most {LARGEST:,} characters")
    if not values["kernel"].strip() and not values["reference"].strip():
        raise DraftError("kernel", "paste a kernel or a reference, or choose a file")
    return values


def read_text(field: str, upload: UploadedFile[Any]) -> str:
    """The text of an uploaded file. Raises DraftError for the field."""
    if (upload.size or 0) > LARGEST:
        raise DraftError(field, f"{upload.name}: accepted: at most {LARGEST:,} bytes")
    try:
        return str(upload.read(), "utf-8")
    except UnicodeDecodeError as error:
        raise DraftError(field, f"{upload.name}: not UTF-8 text: {error.reason}") from None


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
        outputs=tuple(values["outputs"].replace(",", " ").split()),
        name=values["name"].strip(),
        title=values["title"].strip(),
    )


def _guessed(text: str) -> str:
    """A name for a pasted kernel, by what it is written in."""
    if "__global__" in text:
        return "kernel.cu"
    return "kernel.cpp" if "#include" in text or 'extern "C"' in text else "kernel.py"


def shown_files(found: ProposedProblem | None) -> list[tuple[str, list[Any]]]:
    """The files of a proposal, highlighted, line by line."""
    return [(name, highlighted(text, name)) for name, text in found.files.items()] if found else []
