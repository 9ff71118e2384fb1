"""Answers to a flag: cite the value on other lines, or say how it can rest on the same ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from knowledge.curation.answer import explain as explain_flag
from knowledge.curation.answer import recite as recite_flag
from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.curation.propose import CitedLines
from knowledge.forms.decide import DecisionForm, ExplainForm, ReciteForm, add_refusal
from knowledge.models import DRIFT, Document, Flag, FlagAnswer, Revision
from knowledge.models.guarded import COMMAND
from knowledge.views.actions import flag_forms
from knowledge.views.refusals import refusing, spec_of_flag
from knowledge.views.spec import spec_at, spec_page


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
            "a curator who did not bring the text in"
            if drift
            else "anybody with the right to propose values"
        )
        raise Forbidden(f"This flag is answered by {who}.")
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
