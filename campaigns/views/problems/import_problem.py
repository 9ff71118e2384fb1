"""A problem of another collection: its files, what kopt makes of them, and the word to keep it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from campaigns.evaluator.problem import ProblemError
from campaigns.problems.import_.collection import read_collection
from campaigns.problems.import_.draft import DraftError
from campaigns.steps.problems.keep_problem import keep_problem
from campaigns.steps.problems.propose_problem import propose_problem
from campaigns.views.lookup import may_run
from campaigns.views.problems.new_problem import KEPT, LARGEST, read_text, shown_files

MOST_FILES = 8


@may_run
@require_http_methods(["GET", "HEAD", "POST"])
def import_problem(request: HttpRequest) -> HttpResponse:
    """GET shows the form; POST shows what is proposed, or keeps it and goes to its page."""
    given: dict[str, str] = {}
    name = request.POST.get("name", "").strip()
    error, found = None, None
    if request.method == "POST":
        try:
            given = _files(request)
            found = propose_problem(read_collection(given, name))
            if KEPT in request.POST:
                problem = keep_problem(found.files)
                messages.success(request, f"{problem.title} is kept; a campaign can begin with it.")
                return redirect("problem_by_name", problem.slug)
        except DraftError as wrong:
            error = wrong
        except ProblemError as wrong:
            error = DraftError("name", str(wrong))
    context = {
        "given": given,
        "name": name,
        "error": error,
        "proposal": found,
        "files": shown_files(found),
    }
    status = 422 if error else 200
    return render(request, "campaigns/import_problem.html", context, status=status)


def _files(request: HttpRequest) -> dict[str, str]:
    """Uploads, or the texts of those that were looked at before. Raises DraftError."""
    uploads = request.FILES.getlist("files")
    names = request.POST.getlist("file_name")
    texts = [text.replace("\r\n", "\n") for text in request.POST.getlist("file_text")]
    if uploads:
        found = {str(one.name): read_text("files", one) for one in uploads}
    else:
        found = dict(zip(names, texts, strict=False))
    if not found or len(found) > MOST_FILES:
        raise DraftError("files", f"choose 1 to {MOST_FILES} files")
    if any(len(text) > LARGEST for text in found.values()):
        raise DraftError("files", f"accepted: at most {LARGEST:,} characters each")
    return found
