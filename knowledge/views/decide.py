"""Decisions on a value or a flag: each a POST that takes one step and shows the value again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from knowledge.curation import review
from knowledge.curation.answer import explain as explain_flag
from knowledge.curation.answer import recite as recite_flag
from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.curation.propose import CitedLines
from knowledge.curation.turn import turn
from knowledge.curation.warn import waive as waive_warning
from knowledge.forms.decide import DecisionForm, ExplainForm, ReciteForm, WaiveForm, add_refusal
from knowledge.models import DRIFT, Document, Flag, FlagAnswer, Revision, Spec
from knowledge.models.guarded import COMMAND
from knowledge.specs.constraints import CONSTRAINTS
from knowledge.specs.facts import Rank
from knowledge.views.actions import (
    View,
    flag_forms,
    form_for,
    refusal,
    refusing,
    require_as_seen,
    spec_of_flag,
)
from knowledge.views.spec import answers, spec_at, spec_page

Step = Callable[[Spec, Any, dict[str, Any]], object]


def _deciding(name: str, step: Step) -> View:
    """A view that takes one step with what the person wrote."""

    @require_POST
    @refusing(spec_at)
    def view(request: HttpRequest, pk: int) -> HttpResponse:
        spec = _allowed(request, pk, name)
        form = form_for(name, spec, answers(spec), request.POST)
        return _take(request, spec, name, form, step)

    return view


def _with_reason(step: Callable[[Spec, Any, str], object]) -> Step:
    """A step that takes nothing beside the reason."""
    return lambda spec, by, said: step(spec, by, said["why"])


# A second person puts a proposal into use, returns it, retires or ranks a value in use; its author
# proposes it again; anyone who may propose brings a retired one back.
approve = _deciding("approve", _with_reason(review.approve))
give_back = _deciding("return", _with_reason(review.give_back))
resubmit = _deciding("resubmit", _with_reason(review.resubmit))
retire = _deciding(
    "retire",
    lambda spec, by, said: review.retire(spec, by, said["why"], said.get("successor")),
)
rank = _deciding(
    "rank", lambda spec, by, said: review.set_rank(spec, Rank(said["rank"]), by, said["why"])
)
restore = _deciding("restore", _with_reason(review.restore))


@require_POST
@refusing(spec_at)
def waive(request: HttpRequest, pk: int) -> HttpResponse:
    """A second person says why a constraint does not hold for this value."""
    spec = _allowed(request, pk, "waive")
    asked = request.POST.get("constraint", "")
    form = WaiveForm(request.POST, key=f"waive-{asked if asked in CONSTRAINTS else ''}")

    def step(spec: Spec, by: Any, said: dict[str, Any]) -> object:
        return waive_warning(spec, said["constraint"], said["reason"], by)

    return _take(request, spec, "waive", form, step)


def _allowed(request: HttpRequest, pk: int, name: str) -> Spec:
    """The spec, if this person may take the step; rights come before anything they wrote."""
    spec = spec_at(pk)
    forbidden = refusal(name, spec, request.user)
    if forbidden:
        raise Forbidden(forbidden)
    return spec


def _take(
    request: HttpRequest, spec: Spec, name: str, form: DecisionForm, step: Step
) -> HttpResponse:
    """Whether it is still as the person saw it, then what they wrote, then the step."""
    valid = form.is_valid()
    try:
        with turn(spec):
            require_as_seen(name, spec, form.cleaned_data.get("seen"))
            if valid:
                step(spec, request.user, form.cleaned_data)
    except CurationError as error:
        add_refusal(form, error)
        valid = False
    if valid:
        last = spec.changes.first()
        done = last.get_action_display() if last else "changed"
        messages.success(request, f"{spec}: {done}.")
        return redirect(spec)
    return spec_page(request, spec_at(spec.pk), bound=form, status=422)


@require_POST
@refusing(spec_of_flag)
def recite(request: HttpRequest, pk: int) -> HttpResponse:
    """The value stands on these lines of the newest text."""

    def step(flag: Flag, said: dict[str, Any]) -> object:
        place = CitedLines(_text(said["doc"], said["rev"]), said["first"], said["last"])
        return recite_flag(flag, place, request.user, said["why"])

    flag = _open_flag(request, pk, drift=True)
    return _answer(request, flag, ReciteForm(request.POST, key=f"recite-{pk}"), step)


@require_POST
@refusing(spec_of_flag)
def explain(request: HttpRequest, pk: int) -> HttpResponse:
    """The value changed and its citation did not: a typo fixed, or a line misread before."""

    def step(flag: Flag, said: dict[str, Any]) -> object:
        return explain_flag(flag, FlagAnswer(said["answer"]), request.user, said["why"])

    flag = _open_flag(request, pk, drift=False)
    return _answer(request, flag, ExplainForm(request.POST, key=f"explain-{pk}"), step)


def _answer(
    request: HttpRequest, flag: Flag, form: DecisionForm, step: Callable[..., object]
) -> HttpResponse:
    """Take the step with what the person wrote; the value's page again where it is refused."""
    if form.is_valid():
        try:
            step(flag, form.cleaned_data)
        except CurationError as error:
            add_refusal(form, error)
    if form.errors:
        return spec_page(request, spec_at(flag.spec_id), bound=form, status=422)
    messages.success(request, f"{flag}: answered, {flag.get_answer_display()}.")
    return redirect(flag.spec)


def _open_flag(request: HttpRequest, pk: int, *, drift: bool) -> Flag:
    """The flag, still open, of the kind that this answer fits, for a person who may give it."""
    flags = Flag.objects.select_related("spec__platform", "revision__document", "answered_by")
    flag: Flag = get_object_or_404(flags, pk=pk)
    if flag.answered_at is not None:
        who = "A command" if flag.answerer == COMMAND else flag.answerer
        at = timezone.localtime(flag.answered_at, timezone.get_default_timezone())
        said = flag.get_answer_display()
        raise Conflict(f"{who} was first: answered ‘{said}’ at {at:%Y-%m-%d %H:%M:%S} UTC.")
    if (flag.kind in DRIFT) is not drift:
        raise Conflict(f"This does not answer ‘{flag.get_kind_display()}’.")
    if not flag_forms(flag, request.user):
        who = (
            "another curator, who did not import this text,"
            if drift
            else "someone who may propose values"
        )
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
