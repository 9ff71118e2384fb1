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
from knowledge.curation.warn import waive as waive_warning
from knowledge.forms.decide import DecisionForm, WaiveForm, add_refusal
from knowledge.models import Spec
from knowledge.specs.facts import Rank
from knowledge.views.actions import form_for, refusal, require_as_seen
from knowledge.views.refusals import refusing
from knowledge.views.spec import answers, spec_at, spec_page

Step = Callable[[Spec, Any, dict[str, Any]], object]


@require_POST
@refusing(spec_at)
def approve(request: HttpRequest, pk: int) -> HttpResponse:
    """A second person puts a proposed value into use."""
    return _take(request, pk, "approve", lambda s, by, said: review.approve(s, by, said["why"]))


@require_POST
@refusing(spec_at)
def give_back(request: HttpRequest, pk: int) -> HttpResponse:
    """A proposal goes back to its author with a reason."""
    return _take(request, pk, "return", lambda s, by, said: review.give_back(s, by, said["why"]))


@require_POST
@refusing(spec_at)
def resubmit(request: HttpRequest, pk: int) -> HttpResponse:
    """Its author proposes a returned value again."""
    return _take(request, pk, "resubmit", lambda s, by, said: review.resubmit(s, by, said["why"]))


@require_POST
@refusing(spec_at)
def retire(request: HttpRequest, pk: int) -> HttpResponse:
    """A value goes out of use; where others remain, one of them becomes preferred."""

    def step(spec: Spec, by: Any, said: dict[str, Any]) -> object:
        return review.retire(spec, by, said["why"], said.get("successor"))

    return _take(request, pk, "retire", step)


@require_POST
@refusing(spec_at)
def rank(request: HttpRequest, pk: int) -> HttpResponse:
    """A value is preferred, stands beside, or is deprecated."""

    def step(spec: Spec, by: Any, said: dict[str, Any]) -> object:
        return review.set_rank(spec, Rank(said["rank"]), by, said["why"])

    return _take(request, pk, "rank", step)


@require_POST
@refusing(spec_at)
def restore(request: HttpRequest, pk: int) -> HttpResponse:
    """A retired value comes back as a proposal."""
    return _take(request, pk, "restore", lambda s, by, said: review.restore(s, by, said["why"]))


@require_POST
@refusing(spec_at)
def waive(request: HttpRequest, pk: int) -> HttpResponse:
    """A second person says why a constraint does not hold for this value."""
    spec = _allowed(request, pk, "waive")
    form = WaiveForm(request.POST, key=f"waive-{request.POST.get('constraint', '')}"[:60])

    def step(spec: Spec, by: Any, said: dict[str, Any]) -> object:
        return waive_warning(spec, said["constraint"], said["reason"], by)

    return _take_form(request, spec, "waive", form, step)


def _take(request: HttpRequest, pk: int, name: str, step: Step) -> HttpResponse:
    spec = _allowed(request, pk, name)
    form = form_for(name, spec, answers(spec), request.POST)
    return _take_form(request, spec, name, form, step)


def _allowed(request: HttpRequest, pk: int, name: str) -> Spec:
    """The spec, if this person may take the step; rights come before anything they wrote."""
    spec = spec_at(pk)
    forbidden = refusal(name, spec, request.user)
    if forbidden:
        raise Forbidden(forbidden)
    return spec


def _take_form(
    request: HttpRequest, spec: Spec, name: str, form: DecisionForm, step: Step
) -> HttpResponse:
    """Whether it is still as the person saw it, then what they wrote, then the step."""
    valid = form.is_valid()
    require_as_seen(name, spec, form.cleaned_data.get("seen"))
    if valid:
        try:
            step(spec, request.user, form.cleaned_data)
        except CurationError as error:
            add_refusal(form, error)
        else:
            last = spec.changes.first()
            done = last.get_action_display() if last else "changed"
            messages.success(request, f"{spec}: {done}.")
            return redirect(spec)
    return spec_page(request, spec_at(spec.pk), bound=form, status=422)
