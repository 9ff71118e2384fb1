"""A new problem: a kernel and a reference, what kopt makes of them, and the word to keep it."""

from __future__ import annotations

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from campaigns.problems.import_.draft import DraftError, ProblemDraft
from campaigns.problems.import_.given import Given
from campaigns.problems.import_.propose import propose
from campaigns.views.lookup import may_run
from campaigns.views.problems.offer_problem import LARGEST, offer_problem, read_text

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
