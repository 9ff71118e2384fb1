"""The document viewer: numbered lines with their citations, the rendered page, a diff; the list."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import markdown
import nh3
from django.core.paginator import Paginator
from django.db.models import Prefetch, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from knowledge.api.specs import DocumentSerializer, WholeDocumentSerializer
from knowledge.curation.people import may_propose
from knowledge.curation.revise import LIVE
from knowledge.lookup.listing import documents_with, snippets
from knowledge.lookup.standing import notes_of, standings
from knowledge.models import DRIFT, Citation, Document, Flag, Revision, Spec
from knowledge.specs.citation import CitationState, split_lines
from knowledge.specs.tracking.anchoring import Reanchor
from knowledge.specs.tracking.linediff import diff_lines
from knowledge.views.formats import list_file, record_file

REV = re.compile(r"[0-9a-f]{7,64}")
LINES = re.compile(r"([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?", re.ASCII)
EXTENSIONS = ["tables", "pymdownx.superfences", "pymdownx.tilde"]
TAGS = {
    *("h1", "h2", "h3", "h4", "p", "ul", "ol", "li", "blockquote", "hr", "br"),
    *("table", "thead", "tbody", "tr", "th", "td", "pre", "code", "em", "strong", "del", "a"),
}
PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class Margin:
    """One citation beside a line: the state of the spec's newest one; "" for a retired value."""

    citation: Citation
    state: str


@require_safe
def document(request: HttpRequest, path: str) -> HttpResponse:
    """`?rev=` by hash, `?view=rendered`, `?against=<rev>` for a diff, `?lines=23-25` marked."""
    if "\0" in path:  # PostgreSQL refuses NUL in any text
        raise Http404("a path holds no NUL")
    found = get_object_or_404(Document, path=path)
    newest = found.latest
    shape = WholeDocumentSerializer
    if file := record_file(request, f"document-{found.pk}", found, shape, lambda: [newest.text]):
        return file
    revision = _revision(found, request.GET.get("rev", "")) or newest
    against = _revision(found, request.GET.get("against", ""))
    # Open flags on values that rest on this document.
    here = Q(revision__document=found) | Q(spec__citations__revision__document=found)
    keys = Flag.objects.open().filter(here).values("pk")
    specs = Prefetch("spec", Spec.objects.for_sheet())
    context: dict[str, Any] = {
        "document": found,
        "revision": revision,
        "revisions": found.revisions.defer("text").order_by("-number"),
        "newest": revision.pk == newest.pk,
        "flags": list(Flag.objects.filter(pk__in=keys).prefetch_related(specs)),
        "against": against,
        "view": "diff" if against else "source",
    }
    if against:
        context |= _difference(against, revision)
    elif request.GET.get("view") == "rendered":
        context |= {"view": "rendered", "html": render_markdown(revision.text)}
    else:
        may = may_propose(request.user) and context["newest"] and not found.withdrawn_at
        context |= _source(revision, context["flags"], request.GET.get("lines", ""))
        # The address to propose a value from this text; its first and last line are missing.
        asked = urlencode({"doc": found.path, "rev": revision.short})
        context["propose"] = f"{reverse('knowledge:propose')}?{asked}" if may else ""
    return render(request, "knowledge/document.html", context)


def _revision(document: Document, rev: str) -> Revision | None:
    """The revision whose hash starts like this; None where none is asked for. Http404."""
    if not rev:
        return None
    if not REV.fullmatch(rev):
        raise Http404(f"rev '{rev}': accepted are 7 to 64 hexadecimal digits")
    revision: Revision | None = (
        document.revisions.filter(sha256__startswith=rev).order_by("-number").first()
    )
    if revision is None:
        raise Http404(f"{document.path} has no revision {rev}")
    return revision


def _source(revision: Revision, flags: list[Flag], asked: str) -> dict[str, Any]:
    """The lines with their margins; `lines` that cannot be read are said to be so."""
    texts, wanted = split_lines(revision.text), LINES.fullmatch(asked)
    first, last = (int(wanted[1]), int(wanted[2] or wanted[1])) if wanted else (0, 0)
    wrong = bool(asked) and not 1 <= first <= last <= len(texts)
    begins: dict[int, list[Margin]] = defaultdict(list)
    # The citations into this text, with how those of values in use or in review stand now.
    citations = list(revision.citations.select_related("spec__platform"))
    live = [c.spec_id for c in citations if c.spec.state in LIVE]
    states = standings(list(Spec.objects.for_sheet().filter(pk__in=live)))
    for citation in citations:
        citation.revision = revision
        state = str(states.get(citation.spec_id, ""))
        begins[citation.first_line].append(Margin(citation, state))
    for flag in flags:
        # What a citation into an older text has become stands where its place is now.
        was = flag.spec.citation
        if flag.kind in DRIFT and flag.revision_id == revision.pk and flag.first_line and was:
            begins[flag.first_line].append(Margin(was, flag.kind))
    margins = [margin for found in begins.values() for margin in found if margin.state]
    marked = range(first, last + 1) if asked and not wrong else range(0)
    return {
        "cite_notes": notes_of({m.citation.spec_id: CitationState(m.state) for m in margins}),
        "lines": [
            (number, text, begins[number], number in marked)
            for number, text in enumerate(texts, start=1)
        ],
        "wrong_lines": asked if wrong else "",
        "count": len(texts),
        "marked": f"L{first}-L{last}" if marked else "",
    }


def _difference(old: Revision, new: Revision) -> dict[str, Any]:
    """The diff from `old` to `new`, and what becomes of the citations that lie in `old`."""
    citations = old.citations.filter(spec__state__in=LIVE).select_related("spec__platform")
    search = Reanchor(old.text, new.text)
    affected = []
    for citation in citations:
        citation.revision = old
        slug = citation.spec.platform.slug
        anchor = search.anchor(citation.line, citation.quote, slug)
        if anchor.state is not CitationState.OK:
            affected.append((citation, anchor))
    # What needs a person first: that a line only moved is the most frequent and the least.
    affected.sort(key=lambda each: each[1].state is CitationState.MOVED)
    unaffected = len(citations) - len(affected)
    return {"diff": diff_lines(old.text, new.text), "affected": affected, "unaffected": unaffected}


def render_markdown(text: str) -> SafeString:
    """The document as HTML. Scripts, styles, images, forms and foreign schemes do not survive."""
    html = markdown.markdown(text, extensions=EXTENSIONS, output_format="html")
    clean = nh3.clean(
        html,
        tags=TAGS,
        attributes={"a": {"href", "title"}},
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
    )
    return mark_safe(clean)  # nh3 has just cleaned it


@require_safe
def documents(request: HttpRequest) -> HttpResponse:
    """`?q=` words in path, title or newest text, `&page= &format=`."""
    # PostgreSQL refuses NUL in any text.
    q = request.GET.get("q", "").replace("\0", "").strip()
    found = documents_with(q)
    if file := list_file(request, "documents", found, DocumentSerializer, "title path changed_at"):
        return file
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    rows = list(page.object_list)
    lines = snippets(rows, q)
    context = {
        "page": page,
        "rows": [(document, lines.get(document.pk)) for document in rows],
        "q": q,
        "may_propose": may_propose(request.user),
    }
    return render(request, "knowledge/documents.html", context)
