"""Decisions on one spec: each a POST that takes one step of curation and shows the spec again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from knowledge.curation import review
from knowledge.curation.errors import CurationError, Forbidden
from knowledge.curation.turn import turn
from knowledge.curation.warn import waive as waive_warning
from knowledge.forms.decide import DecisionForm, WaiveForm, add_refusal
from knowledge.models import Spec
from knowledge.specs.constraints import CONSTRAINTS
from knowledge.specs.facts import Rank
from knowledge.views.actions import form_for, refusal, require_as_seen
from knowledge.views.refusals import View, refusing
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


def _retire(spec: Spec, by: Any, said: dict[str, Any]) -> object:
    return review.retire(spec, by, said["why"], said.get("successor"))


def _rank(spec: Spec, by: Any, said: dict[str, Any]) -> object:
    return review.set_rank(spec, Rank(said["rank"]), by, said["why"])


# A second person puts a proposal into use, returns it, retires or ranks a value in use; its author
# proposes it again; anyone who may propose brings a retired one back.
approve = _deciding("approve", _with_reason(review.approve))
give_back = _deciding("return", _with_reason(review.give_back))
resubmit = _deciding("resubmit", _with_reason(review.resubmit))
retire = _deciding("retire", _retire)
rank = _deciding("rank", _rank)
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
