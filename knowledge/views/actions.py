"""What a person may do to a value now, why other buttons are missing, and how a page refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
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
from knowledge.models import DRIFT, Flag, Spec, SpecChange, SpecState
from knowledge.models.guarded import COMMAND
from knowledge.specs.facts import Rank

View = Callable[..., HttpResponse]
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
# What the button says that opens the step.
WORDS = {
    "approve": "Approve",
    "return": "Return to its author",
    "resubmit": "Propose it again",
    "retire": "Retire",
    "rank": "Change the rank",
    "restore": "Restore as a proposal",
    "waive": "Waive",
}
OWN = "You cannot approve your own proposals; another curator decides on this one."


def refused(
    request: HttpRequest,
    error: Exception,
    *,
    spec: Spec | None = None,
    back: str = "",
    status: int,
) -> HttpResponse:
    """One page for both: what was not done, the last change of the value, and the way back.

    back: the address of the page that is about what was not changed, if it is no value.
    """
    last = spec.changes.select_related("by").first() if spec is not None else None
    context = {"message": str(error), "spec": spec, "last": last, "back": back, "status": status}
    return render(request, "knowledge/conflict.html", context, status=status)


def refusing(find: Callable[[Any], Any]) -> Callable[[View], View]:
    """Decorate a view of one `pk` or `key`: Forbidden → 403, Conflict → 409.

    find: key → what the page is about, to which the way back leads.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, **named: Any) -> HttpResponse:
            try:
                return view(request, **named)
            except (Forbidden, Conflict) as error:
                status = 403 if isinstance(error, Forbidden) else 409
                about = find(named["pk"] if "pk" in named else named["key"])
                if isinstance(about, Spec):
                    return refused(request, error, spec=about, status=status)
                return refused(request, error, back=about.get_absolute_url(), status=status)

        return guarded

    return decorate


def spec_of_flag(pk: int) -> Spec:
    """The value that a flag is about."""
    return Flag.objects.select_related("spec__platform").get(pk=pk).spec


@dataclass(frozen=True, slots=True)
class OfferedAction:
    """A step as a page offers it: its form, where that goes, and the words of its button."""

    step: str
    spec: Spec
    form: DecisionForm

    @property
    def label(self) -> str:
        return WORDS[self.step]

    @property
    def url(self) -> str:
        return reverse(f"knowledge:{self.step}", args=[self.spec.pk])

    @property
    def primary(self) -> bool:
        """Approving is what a reviewer came for; everything else opens on request."""
        return self.step == "approve"


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
    last = newest_change(spec)
    if seen is not None and last is not None and last.pk != seen:
        about = f" ({last.spec})" if last.spec_id != spec.pk else ""
        raise Conflict(f"{who_did(last)}{about}; look again before you decide.")
    own = spec.changes.select_related("by").first()
    if own is not None and spec.state not in STATES[step]:
        raise Conflict(f"{who_did(own)}; look again before you decide.")
    if spec.state not in STATES[step]:
        raise Conflict(f"{spec} is {spec.state}; accepted: {', '.join(sorted(STATES[step]))}")


def who_did(change: SpecChange) -> str:
    """One line of history as a sentence: who, what, when."""
    who = "A command" if change.who == COMMAND else change.who
    at = timezone.localtime(change.at, timezone.get_default_timezone())
    return f"{who} was first: {change.get_action_display()} at {at:%Y-%m-%d %H:%M:%S} UTC"
