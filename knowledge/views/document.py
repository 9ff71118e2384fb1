"""The document viewer: numbered source lines with their citations, or the rendered page."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from knowledge.models import Citation, Document, Revision
from knowledge.rendering import render_markdown
from knowledge.specs.citation import split_lines

REV = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True)
class Line:
    """One source line and the citations that begin on it."""

    number: int
    text: str
    citations: list[Citation]


@require_safe
def document(request: HttpRequest, path: str) -> HttpResponse:
    """One revision of a document: `?rev=` picks it by hash, `?view=rendered` shows it as a page."""
    found = get_object_or_404(Document, path=path)
    revision = _revision(found, request.GET.get("rev", ""))
    rendered = request.GET.get("view") == "rendered"
    context = {
        "document": found,
        "revision": revision,
        "revisions": found.revisions.defer("text").order_by("-number"),
        "newest": revision.number == found.latest.number,
        "html": render_markdown(revision.text) if rendered else None,
        "lines": [] if rendered else _lines(revision),
    }
    return render(request, "knowledge/document.html", context)


def _revision(document: Document, rev: str) -> Revision:
    if not rev:
        return document.latest
    if not REV.fullmatch(rev):
        raise Http404(f"rev '{rev}': accepted are 7 to 64 hexadecimal digits")
    revision: Revision | None = (
        document.revisions.filter(sha256__startswith=rev).order_by("-number").first()
    )
    if revision is None:
        raise Http404(f"{document.path} has no revision {rev}")
    return revision


def _lines(revision: Revision) -> list[Line]:
    begins: dict[int, list[Citation]] = defaultdict(list)
    for citation in revision.citations.select_related("spec__platform", "revision__document"):
        begins[citation.first_line].append(citation)
    texts = enumerate(split_lines(revision.text), start=1)
    return [Line(number, text, begins[number]) for number, text in texts]
