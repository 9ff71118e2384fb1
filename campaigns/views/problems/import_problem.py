"""A problem of another collection: its files, what kopt makes of them, and the word to keep it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from campaigns.problems.import_.collection import read_collection
from campaigns.problems.import_.draft import DraftError, ProblemDraft
from campaigns.views.lookup import may_run
from campaigns.views.problem import (
    LARGEST,
    MOST_FILES,
    offer_problem,
    posted_files,
    read_text,
)


@may_run
@require_http_methods(["GET", "HEAD", "POST"])
def import_problem(request: HttpRequest) -> HttpResponse:
    """GET shows the form; POST shows what is proposed, or keeps it and goes to its page."""
    given = posted_files(request, "file_name", "file_text")
    name = request.POST.get("name", "").strip()

    def read_in() -> ProblemDraft:
        if uploads := request.FILES.getlist("files"):
            given.clear()
            given.update({str(one.name): read_text("files", one) for one in uploads})
        _refuse_too_much(given)
        return read_collection(given, name)

    return offer_problem(
        request, "campaigns/import_problem.html", read_in, {"given": given, "name": name}
    )


def _refuse_too_much(given: dict[str, str]) -> None:
    """Raises DraftError."""
    if not given or len(given) > MOST_FILES:
        raise DraftError("files", f"choose 1 to {MOST_FILES} files")
    if any(len(text) > LARGEST for text in given.values()):
        raise DraftError("files", f"accepted: at most {LARGEST:,} characters each")
