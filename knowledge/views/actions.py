"""What a person may do to a value now, why other buttons are missing, and how a page refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import wraps
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from knowledge.curation.errors import Conflict, Forbidden
from knowledge.curation.people import may_propose, may_review
from knowledge.curation.turn import newest_change
from knowledge.forms.decide import (
    ApproveForm,
    DecisionForm,
    ExplainForm,
    RankForm,
    ReasonForm,
    ReciteForm,
    RetireForm,
)
from knowledge.lookup.listing import FilterError
from knowledge.lookup.waiting import queue_behind
from knowledge.models import DRIFT, Flag, Lesson, Spec, SpecState
from knowledge.models.guarded import COMMAND
from knowledge.specs.facts import Rank

View = Callable[..., HttpResponseBase]
# In which states a step makes sense; anything else means that somebody else was first.
STATES: dict[str, frozenset[str]] = {
    "approve": frozenset({SpecState.PROPOSED}),
    "return": frozenset({SpecState.PROPOSED}),
    "resubmit": frozenset({SpecState.RETURNED}),
    "retire": frozenset({SpecState.PROPOSED, SpecState.APPROVED, SpecState.RETURNED}),
    "rank": frozenset({SpecState.APPROVED}),
    "restore": frozenset({SpecState.RETIRED}),
    "waive": frozenset({SpecState.PROPOSED, SpecState.APPROVED, SpecState.RETURNED}),
}
OWN = "You cannot approve your own proposals; another curator decides on this one."


def refused(request: HttpRequest, error: Exception, about: Spec | str = "") -> HttpResponse:
    """The page that says what was not done, with the last change of a value and the way back.

    about: the value, or the address of another page, that was not changed. Forbidden is 403,
    FilterError 400, anything else 409.
    """
    kinds = {Forbidden: 403, FilterError: 400}
    status = next((code for kind, code in kinds.items() if isinstance(error, kind)), 409)
    spec = about if isinstance(about, Spec) else None
    last = spec.changes.select_related("by").first() if spec is not None else None
    context = {"message": str(error), "spec": spec, "last": last, "status": status}
    context["back"] = about if isinstance(about, str) else ""
    return render(request, "knowledge/conflict.html", context, status=status)


def refusing(find: Callable[[Any], Any]) -> Callable[[View], View]:
    """Decorate a view of one `pk` or `key`: Forbidden → 403, Conflict → 409.

    find: key → what the page is about, to which the way back leads.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, **named: Any) -> HttpResponseBase:
            try:
                return view(request, **named)
            except (Forbidden, Conflict) as error:
                about = find(named["pk"] if "pk" in named else named["key"])
                is_value = isinstance(about, Spec)
                return refused(request, error, about if is_value else about.get_absolute_url())

        return guarded

    return decorate


def onward(request: HttpRequest, about: Spec | Lesson) -> HttpResponseBase:
    """After a decision the next thing of the queue that its page was opened from, else the page."""
    kind = queue_behind(request.headers.get("Referer", ""))
    if kind is None:
        return redirect(about)
    return redirect(reverse("review_next") + (f"?kind={kind}" if kind else ""))


def spec_of_flag(pk: int) -> Spec:
    """The value that a flag is about."""
    return Flag.objects.select_related("spec__platform").get(pk=pk).spec


def refusal(step: str, spec: Spec, person: Any) -> str:
    """Why this person may not take this step, in a sentence; empty if they may."""
    own = person == spec.proposed_by
    if step in ("approve", "return", "rank", "waive"):
        if not may_review(person):
            return "Reviewing needs the role curator or lead."
        return OWN if own else ""
    if step == "retire":
        if own and spec.state != SpecState.APPROVED and may_propose(person):
            return ""
        return "" if may_review(person) else "Retiring needs the role curator or lead."
    if not may_propose(person):
        return "Proposing needs the role engineer, curator or lead."
    if step == "resubmit" and not own:
        return "Only its author proposes a returned value again."
    return ""


def offered(spec: Spec, person: Any) -> list[str]:
    """The steps that this person may take in the state that the spec is in."""
    known = [step for step, states in STATES.items() if spec.state in states]
    return [step for step in known if not refusal(step, spec, person)]


def form_for(step: str, spec: Spec, peers: Sequence[Spec], data: Any = None) -> DecisionForm:
    """The form of one step, bound if there is data."""
    last = newest_change(spec)
    initial = {"seen": last.pk if last else None}
    if step == "approve":
        return ApproveForm(data, key=step, initial=initial)
    if step == "retire":
        return RetireForm(data, key=step, initial=initial, peers=successors(spec, peers))
    if step == "rank":
        form = RankForm(data, key=step, initial=initial)
        ranks = forms.ChoiceField(choices=[(r.value, r.value) for r in Rank if r != spec.rank])
        form.fields["rank"] = ranks
        return form
    return ReasonForm(data, key=step, initial=initial)


def successors(spec: Spec, peers: Sequence[Spec]) -> list[Spec]:
    """Who could be preferred once this one is retired; empty where nobody has to step in."""
    if spec.state != SpecState.APPROVED or spec.rank != Rank.PREFERRED:
        return []
    approved = [peer for peer in peers if peer.state == SpecState.APPROVED and peer.known]
    return [peer for peer in approved if peer.rank != Rank.DEPRECATED]


def flag_forms(flag: Flag, person: Any) -> dict[str, DecisionForm]:
    """The answers to a flag that need a form of their own, as far as this person may give them."""
    if flag.kind not in DRIFT:
        key = f"explain-{flag.pk}"
        return {"explain": ExplainForm(key=key)} if may_propose(person) else {}
    if not may_review(person) or person == flag.raised_by:
        return {}
    return {"recite": ReciteForm.starting_at(flag, f"recite-{flag.pk}")}


def require_as_seen(step: str, spec: Spec, seen: int | None) -> None:
    """Raise Conflict naming who was first, if it is not what the page showed.

    That is the spec itself, and the values that stand beside it: whoever approves a value has to
    know which one it takes the place of. Run it in the turn of the decision. seen: the key of the
    newest change that the page showed, None where it showed none.
    """
    last, own = newest_change(spec), spec.changes.select_related("by").first()
    if seen is not None and last is not None and last.pk != seen:
        about = f" ({last.spec})" if last.spec_id != spec.pk else ""
        words = was_first(last.who, last.get_action_display(), last.at)
        raise Conflict(f"{words}{about}; look again before you decide.")
    if spec.state not in STATES[step]:
        if own is None:
            accepted = ", ".join(sorted(STATES[step]))
            raise Conflict(f"{spec} is {spec.state}; accepted: {accepted}")
        words = was_first(own.who, own.get_action_display(), own.at)
        raise Conflict(f"{words}; look again before you decide.")


def was_first(who: str, what: str, at: datetime) -> str:
    """Who did what and when, for the person who came second."""
    name = "A command" if who == COMMAND else who
    local = timezone.localtime(at, timezone.get_default_timezone())
    return f"{name} was first: {what} at {local:%Y-%m-%d %H:%M:%S} UTC"
