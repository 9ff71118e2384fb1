"""Propose a value: pick the lines of its source on the left, say what they say on the right."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from knowledge.curation.errors import Conflict, CurationError
from knowledge.curation.people import PROPOSE, ROLES, may_propose
from knowledge.curation.proposal import submit
from knowledge.curation.propose import CitedLines
from knowledge.curation.warn import warnings_before
from knowledge.forms.propose import FIELDS, ProposeForm, filled_from
from knowledge.models import Spec, SpecState
from knowledge.specs.cited import EvidenceClass
from knowledge.specs.constraints import ConstraintWarning
from knowledge.specs.facts import Rank, SourceKind, SpecFacts
from knowledge.specs.metrics import METRICS
from knowledge.specs.reader import ReaderError, read_page
from knowledge.views.source_pane import Pane, document_paths, number, pane_for

LOOK = "look"  # the button that opens a document or quotes the picked lines, and stores nothing


@require_http_methods(["GET", "HEAD", "POST"])
def propose(request: HttpRequest) -> HttpResponse:
    """GET fills the form from the address; POST looks at lines or stores the proposal."""
    if not may_propose(request.user):
        roles = [role for role, permissions in ROLES.items() if PROPOSE in permissions]
        return render(request, "knowledge/propose.html", {"roles": roles}, status=403)
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
        "documents": document_paths(),
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
    spec = Spec(
        platform=said["platform"],
        metric=said["metric"],
        shown=said["value"],
        qualifiers=said["qualifiers"],
        evidence=said.get("evidence", ""),
        source=said.get("source", ""),
        source_url=said.get("source_url", ""),
        replaces=said.get("replaces"),
    )
    return warnings_before(spec, _picked(pane))


def _picked(pane: Pane | None) -> CitedLines | None:
    if pane is None or pane.first is None or pane.last is None or pane.quote is None:
        return None
    return CitedLines(pane.revision, pane.first, pane.last)


def _starting_values(asked: QueryDict) -> dict[str, Any]:
    """From the picked line, from a value to start from (`like`), and from the address itself.

    A value to replace without lines of its own starts at the lines that it rests on.
    """
    values: dict[str, Any] = {}
    like = number(asked.get("like")) or number(asked.get("replaces")) or 0
    model = Spec.objects.select_related("platform").filter(pk=like).first()
    if model is not None:
        values = _facts_of(model) | {"platform": model.platform.slug, "rank": model.rank}
        citation = model.citation
        if citation is not None and not asked.get("doc"):
            values["doc"] = citation.revision.document.path
        if asked.get("replaces") is None and model.state == SpecState.APPROVED:
            values.pop("rank")
    given = {name: value for name, value in asked.items() if value}
    pane = pane_for(values | given)
    return values | _facts_at(pane) | given


def _facts_of(spec: Spec) -> dict[str, Any]:
    facts = SpecFacts(
        metric=spec.metric,
        shown=spec.shown,
        evidence=EvidenceClass(spec.evidence),
        source_kind=SourceKind(spec.source_kind),
        source=spec.source,
        source_url=spec.source_url,
        rank=Rank(spec.rank),
        qualifiers=spec.qualifiers,
        note=spec.note,
    )
    return dict(filled_from(facts))


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
