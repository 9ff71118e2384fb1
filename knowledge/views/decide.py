"""Decisions on a value or a flag: each a POST that takes one step and shows the value again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from knowledge.curation import answer, review
from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.curation.propose import CitedLines
from knowledge.curation.turn import turn
from knowledge.curation.warn import waive as waive_warning
from knowledge.forms.decide import DecisionForm, ExplainForm, ReciteForm, WaiveForm, add_refusal
from knowledge.models import DRIFT, Document, Flag, FlagAnswer, Revision, Spec
from knowledge.specs.constraints import CONSTRAINTS
from knowledge.specs.facts import Rank
from knowledge.views.actions import (
    View,
    flag_forms,
    form_for,
    onward,
    refusal,
    refusing,
    require_as_seen,
    spec_of_flag,
    was_first,
)
from knowledge.views.spec import answers, spec_at, spec_page

# What a step does with the value, the person and what the person wrote.
STEPS: dict[str, Callable[[Spec, Any, dict[str, Any]], object]] = {
    "approve": lambda spec, by, said: review.approve(spec, by, said["why"]),
    "return": lambda spec, by, said: review.give_back(spec, by, said["why"]),
    "resubmit": lambda spec, by, said: review.resubmit(spec, by, said["why"]),
    "retire": lambda spec, by, said: review.retire(spec, by, said["why"], said.get("successor")),
    "rank": lambda spec, by, said: review.set_rank(spec, Rank(said["rank"]), by, said["why"]),
    "restore": lambda spec, by, said: review.restore(spec, by, said["why"]),
    "waive": lambda spec, by, said: waive_warning(spec, said["constraint"], said["reason"], by),
}


@require_POST
@refusing(spec_at)
def decide(request: HttpRequest, pk: int, step: str) -> HttpResponseBase:
    """Take one of `STEPS`: rights first, then whether the value is as seen, then what was written.

    A second person puts a proposal into use, returns it, retires or ranks a value in use, or says
    why a constraint does not hold for it; its author proposes it again; anyone who may propose
    brings a retired one back.
    """
    spec = spec_at(pk)
    if forbidden := refusal(step, spec, request.user):
        raise Forbidden(forbidden)
    if step == "waive":
        asked = request.POST.get("constraint", "")
        key = f"waive-{asked if asked in CONSTRAINTS else ''}"
        form: DecisionForm = WaiveForm(request.POST, key=key)
    else:
        form = form_for(step, spec, answers(spec), request.POST)
    valid = form.is_valid()
    try:
        with turn(spec):
            require_as_seen(step, spec, form.cleaned_data.get("seen"))
            if valid:
                STEPS[step](spec, request.user, form.cleaned_data)
    except CurationError as error:
        add_refusal(form, error)
        valid = False
    if valid:
        last = spec.changes.first()
        done = last.get_action_display() if last else "changed"
        messages.success(request, f"{spec}: {done}.")
        return onward(request, spec)
    return spec_page(request, spec_at(spec.pk), bound=form, status=422)


def _answering(
    name: str, form_of: type[DecisionForm], step: Callable[[Flag, Any, dict[str, Any]], object]
) -> View:
    """A view that answers an open flag of the kind that the answer fits."""

    @require_POST
    @refusing(spec_of_flag)
    def view(request: HttpRequest, pk: int) -> HttpResponseBase:
        flag = _open_flag(request, pk, drift=name == "recite")
        form = form_of(request.POST, key=f"{name}-{pk}")
        if form.is_valid():
            try:
                step(flag, request.user, form.cleaned_data)
            except CurationError as error:
                add_refusal(form, error)
        if form.errors:
            return spec_page(request, spec_at(flag.spec_id), bound=form, status=422)
        messages.success(request, f"{flag}: answered, {flag.get_answer_display()}.")
        return onward(request, flag.spec)

    return view


def _recite(flag: Flag, by: Any, said: dict[str, Any]) -> object:
    place = CitedLines(_text(said["doc"], said["rev"]), said["first"], said["last"])
    return answer.recite(flag, place, by, said["why"])


# The value stands on other lines of the newest text; or it changed and its citation did not: a typo
# was fixed, or the line was misread before.
recite = _answering("recite", ReciteForm, _recite)
explain = _answering(
    "explain",
    ExplainForm,
    lambda flag, by, said: answer.explain(flag, FlagAnswer(said["answer"]), by, said["why"]),
)


def _open_flag(request: HttpRequest, pk: int, *, drift: bool) -> Flag:
    """The flag, still open, for a person who may give this answer."""
    flags = Flag.objects.select_related("spec__platform", "revision__document", "answered_by")
    flag: Flag = get_object_or_404(flags, pk=pk)
    if flag.answered_at is not None:
        said = f"answered ‘{flag.get_answer_display()}’"
        raise Conflict(f"{was_first(flag.answerer, said, flag.answered_at)}.")
    if (flag.kind in DRIFT) is not drift:
        raise Conflict(f"This does not answer ‘{flag.get_kind_display()}’.")
    if not flag_forms(flag, request.user):
        curator = "another curator, who did not import this text,"
        who = curator if drift else "someone who may propose values"
        raise Forbidden(f"This flag must be answered by {who}.")
    return flag


def _text(path: str, rev: str) -> Revision:
    """The text that the page showed, if it is of this document; else the document's newest.

    One that is no longer the newest is refused by the step, as its lines may have moved.
    """
    document = Document.objects.filter(path=path.strip()).first()
    if document is None:
        raise CurationError("document", f"no document '{path}'; accepted: the path of one, .md")
    shown = document.revisions.filter(sha256__startswith=rev) if rev else Revision.objects.none()
    return shown.order_by("-number").first() or document.latest
