"""Propose a value: pick the lines of its source on the left, say what they say on the right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from knowledge.curation.errors import Conflict, CurationError
from knowledge.curation.people import PROPOSERS, may_propose
from knowledge.curation.propose import CitedLines, submit
from knowledge.curation.warn import warnings_before
from knowledge.forms.propose import FIELDS, ProposeForm, filled_from
from knowledge.models import Document, Revision, Spec, SpecState
from knowledge.specs.citation import quoted, split_lines
from knowledge.specs.constraints import ConstraintWarning
from knowledge.specs.metrics import METRICS
from knowledge.specs.reader import ReaderError, read_page

WINDOW = 300  # lines shown at once
MOST_DOCUMENTS = 500  # paths offered while typing
LOOK = "look"  # the button that opens a document or quotes the picked lines, and stores nothing


@dataclass(frozen=True, slots=True)
class Pane:
    """One window of a text. first, last: the picked lines, None while there are none.

    earlier, later: first lines of the windows before and after this one, None where there is none.
    """

    revision: Revision
    newest: bool
    lines: list[tuple[int, str]]
    count: int
    first: int | None
    last: int | None
    earlier: int | None
    later: int | None

    @property
    def quote(self) -> str | None:
        """The text of the picked lines, None where none are or the text is shorter."""
        if self.first is None or self.last is None:
            return None
        return quoted(self.revision.text, self.first, self.last)

    @property
    def first_hidden(self) -> bool:
        """Whether the picked first line lies outside of this window."""
        return self.first is not None and self.first not in dict(self.lines)

    @property
    def last_hidden(self) -> bool:
        return self.last is not None and self.last not in dict(self.lines)


def pane_for(asked: Mapping[str, Any]) -> Pane | None:
    """The source that the address or the form asks for; None where it names no document.

    `rev` is the text that lines were picked in; picks in another text are dropped.
    """
    document = Document.objects.filter(path=_text(asked, "doc")).first()
    if document is None:
        return None
    newest = document.latest
    rev = _text(asked, "rev")
    shown = document.revisions.filter(sha256__startswith=rev) if rev else None
    revision = shown.order_by("-number").first() if shown is not None else newest
    first, last = number(asked.get("first")), number(asked.get("last"))
    if revision is None:
        revision, first, last = newest, None, None
    texts = split_lines(revision.text)
    first, last = (first or last), (last or first)
    wanted, count = number(asked.get("from")), len(texts)
    if wanted is None:
        is_near = first is None or first > count or first <= WINDOW
        wanted = 1 if is_near or first is None else first - WINDOW // 2
    start = max(1, min(wanted, count))
    window = list(enumerate(texts[start - 1 : start - 1 + WINDOW], start=start))
    earlier = max(1, start - WINDOW) if start > 1 else None
    later = start + WINDOW if start + WINDOW <= count else None
    is_newest = revision.number == newest.number
    return Pane(revision, is_newest, window, count, first, last, earlier, later)


def number(text: Any, most_digits: int = 9) -> int | None:
    """The number from 1 that a parameter holds, None for anything else."""
    word = str(text or "")
    if not (word.isascii() and word.isdigit() and len(word) <= most_digits):
        return None
    return int(word) or None


def _text(asked: Mapping[str, Any], name: str) -> str:
    # PostgreSQL refuses NUL in any text.
    return str(asked.get(name) or "").replace("\0", "").strip()


@require_http_methods(["GET", "HEAD", "POST"])
def propose(request: HttpRequest) -> HttpResponse:
    """GET fills the form from the address; POST looks at lines or stores the proposal."""
    if not may_propose(request.user):
        return render(request, "knowledge/propose.html", {"roles": PROPOSERS}, status=403)
    if request.method != "POST":
        values = _starting_values(request.GET)
        return _page(request, ProposeForm(initial=values), values)
    values = request.POST.dict()
    if values.get("do") == LOOK:
        return _page(request, ProposeForm(initial=values), values)
    form = ProposeForm(request.POST)
    status = 422
    if form.is_valid():
        try:
            spec = submit(form.proposal(), request.user)
        except CurationError as error:
            name = FIELDS.get(error.field, error.field)
            form.add_error(name if name in form.fields else None, error.message)
        except Conflict as error:
            form.add_error(None, str(error))
            status = 409
        else:
            messages.success(request, f"{spec}: proposed. Another curator will review it.")
            return redirect(spec)
    return _page(request, form, values, status)


def _page(
    request: HttpRequest, form: ProposeForm, values: dict[str, Any], status: int = 200
) -> HttpResponse:
    pane = pane_for(values)
    replaced = number(values.get("replaces")) or 0
    draft = ProposeForm(values)
    draft.is_valid()
    context = {
        "form": form,
        "pane": pane,
        "replaced": Spec.objects.select_related("platform").filter(pk=replaced).first(),
        "documents": Document.objects.values_list("path", flat=True)[:MOST_DOCUMENTS],
        "metrics": METRICS.values(),
        "rev": pane.revision.short if pane else "",
        "warnings": _warnings(draft, pane),
        "wrong_value": draft.errors.get("value") if values.get("value") else None,
    }
    return render(request, "knowledge/propose.html", context, status=status)


def _warnings(draft: ProposeForm, pane: Pane | None) -> list[ConstraintWarning] | None:
    """What constraints say of the value so far; None until there is enough to say something."""
    said = draft.cleaned_data
    if not {"platform", "metric", "value", "qualifiers"} <= said.keys():
        return None
    named = {name: said.get(name, "") for name in ("evidence", "source", "source_url")}
    spec = Spec(
        platform=said["platform"],
        metric=said["metric"],
        shown=said["value"],
        qualifiers=said["qualifiers"],
        replaces=said.get("replaces"),
        **named,
    )
    if pane is None or pane.first is None or pane.last is None or pane.quote is None:
        return warnings_before(spec)
    return warnings_before(spec, CitedLines(pane.revision, pane.first, pane.last))


def _starting_values(asked: QueryDict) -> dict[str, Any]:
    """From the picked line, from a value to start from (`like`), and from the address itself.

    A value to replace without lines of its own starts at the lines that it rests on.
    """
    values: dict[str, Any] = {}
    like = number(asked.get("like")) or number(asked.get("replaces")) or 0
    model = Spec.objects.select_related("platform").filter(pk=like).first()
    if model is not None:
        values = dict(filled_from(model))
        values |= {"platform": model.platform.slug, "rank": model.rank}
        citation = model.citation
        if citation is not None and not asked.get("doc"):
            values["doc"] = citation.revision.document.path
        if asked.get("replaces") is None and model.state == SpecState.APPROVED:
            values.pop("rank")
    given = {name: value for name, value in asked.items() if value}
    pane = pane_for(values | given)
    return values | _facts_at(pane) | given


def _facts_at(pane: Pane | None) -> dict[str, Any]:
    """What the picked line says, where it is a spec line of a document that can be read."""
    if pane is None or pane.first is None or pane.first != pane.last:
        return {}
    try:
        page = read_page(pane.revision.document.path, pane.revision.text)
    except ReaderError:
        return {}  # any text may be a source; only spec lines fill the form
    for line in page.specs:
        if line.line == pane.first:
            platform = {"platform": page.platform_slug} if page.platform_slug else {}
            return dict(filled_from(line.facts)) | platform
    return {}
