"""The page of one spec: its value, the lines it rests on, its rivals, uses, flags and history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from knowledge.curation.people import may_propose
from knowledge.curation.warn import warnings_of
from knowledge.forms.decide import DecisionForm, WaiveForm
from knowledge.lookup.standing import notes_of, standings
from knowledge.lookup.usage import Replacement, uses
from knowledge.models import DRIFT, Flag, Spec, SpecState, Waiver
from knowledge.specs.citation import CitationState
from knowledge.specs.constraints import CONSTRAINTS, ConstraintWarning
from knowledge.specs.facts import Rank
from knowledge.specs.quantity import format_number
from knowledge.views.actions import STATES, OfferedAction, flag_forms, form_for, offered, refusal

ORDER: list[str] = [
    SpecState.APPROVED,
    SpecState.PROPOSED,
    SpecState.RETURNED,
    SpecState.RETIRED,
]
RANKS: list[str] = list(Rank)


@dataclass(frozen=True, slots=True)
class FlagQuestion:
    """An open flag with the answers that this person may give to it."""

    flag: Flag
    forms: dict[str, DecisionForm]
    proposals: list[Spec]
    propose_url: str

    @property
    def drift(self) -> bool:
        return self.flag.kind in DRIFT


@dataclass(slots=True)
class WarningWithWaiver:
    """A warning with its waiver, or the form that waives it for those who may."""

    said: ConstraintWarning
    waiver: Waiver | None
    form: DecisionForm | None

    @property
    def title(self) -> str:
        return CONSTRAINTS[self.said.constraint].title

    @property
    def remedy(self) -> str:
        return CONSTRAINTS[self.said.constraint].remedy


def spec_at(pk: int) -> Spec:
    """The spec with platform, author, citations and what it replaces."""
    specs = Spec.objects.for_sheet().select_related("replaces__platform")
    return get_object_or_404(specs, pk=pk)


@require_safe
def spec(request: HttpRequest, pk: int) -> HttpResponse:
    """Everything about one value, and the buttons that this person may use."""
    return spec_page(request, spec_at(pk))


def spec_page(
    request: HttpRequest, spec: Spec, bound: DecisionForm | None = None, status: int = 200
) -> HttpResponse:
    """The page; `bound` is a form that was refused and takes the place of its empty twin."""
    rivals = answers(spec)
    found = standings([spec, *rivals])
    replacement = _replacement(spec, rivals)
    swap = Replacement(spec, replacement)
    if spec.state == SpecState.PROPOSED and replacement is not None:
        swap = Replacement(replacement, spec)
    questions = _questions(spec, rivals, request.user)
    steps = {step: form_for(step, spec, rivals) for step in offered(spec, request.user)}
    standing = found.get(spec.pk)
    blocked = _blocked(spec, questions, standing, request.user)
    if blocked:
        steps.pop("approve", None)
    warnings = _warnings(spec, may_waive=steps.pop("waive", None) is not None)
    homeless = None if bound is None else _place_refused(bound, steps, questions, warnings)
    context = {
        "spec": spec,
        "canonical": _canonical(spec),
        "command": _command(spec),
        "standing": standing,
        "cite_notes": notes_of(found),
        "rivals": [(rival, found.get(rival.pk)) for rival in rivals],
        "questions": questions,
        "warnings": warnings,
        "open_warnings": sum(not warning.said.waived for warning in warnings),
        "choices": [OfferedAction(step, spec, form) for step, form in steps.items()],
        "blocked": blocked,
        "homeless": homeless,
        "can_approve": "approve" in steps,
        "swap": swap,
        "uses": uses([swap])[0],
        "history": spec.changes.select_related("by"),
        "propose_url": _propose_url(spec) if may_propose(request.user) else "",
    }
    return render(request, "knowledge/spec.html", context, status=status)


def _canonical(spec: Spec) -> str:
    """The value in the unit it is kept in, where the source writes it in another."""
    if spec.value is None:
        return ""
    kept = f"{format_number(spec.value)} {spec.unit}"
    return "" if kept == spec.shown else kept


def _command(spec: Spec) -> str:
    """The same question to the command line."""
    asked = [f"--{key.replace('_', '-')} {value}" for key, value in spec.qualifiers.items()]
    return " ".join(
        [".venv/bin/python manage.py spec get", spec.platform.slug, spec.metric, *asked]
    )


def answers(spec: Spec) -> list[Spec]:
    """Every other value for the same question: in use first, preferred first, retired last."""
    same = Spec.objects.asking(spec.platform, spec.metric, spec.qualifiers)
    others = same.exclude(pk=spec.pk).for_sheet()
    return sorted(others, key=lambda s: (ORDER.index(s.state), RANKS.index(s.rank), s.pk))


def _replacement(spec: Spec, rivals: list[Spec]) -> Spec | None:
    """The value that a proposal would replace; for any other value, its successor."""
    in_use = [rival for rival in rivals if rival.state == SpecState.APPROVED]
    if spec.state == SpecState.PROPOSED:
        if spec.replaces is not None:
            return spec.replaces
        preferred = [rival for rival in in_use if rival.rank == Rank.PREFERRED]
        return preferred[0] if preferred and spec.rank == Rank.PREFERRED else None
    waiting = [rival for rival in rivals if rival.state == SpecState.PROPOSED]
    after = in_use if spec.state == SpecState.RETIRED else waiting
    named = [rival for rival in after if rival.replaces_id == spec.pk]
    return max(named, key=lambda rival: rival.pk, default=None)


def _questions(spec: Spec, rivals: list[Spec], person: Any) -> list[FlagQuestion]:
    flags = Flag.objects.open().filter(spec=spec).select_related("revision__document", "raised_by")
    waiting = [rival for rival in rivals if rival.state == SpecState.PROPOSED]
    proposals = [rival for rival in waiting if rival.replaces_id == spec.pk]
    found = []
    for flag in flags:
        flag.spec = spec
        url = _propose_url(spec, flag) if may_propose(person) else ""
        found.append(FlagQuestion(flag, flag_forms(flag, person), proposals, url))
    return found


def _warnings(spec: Spec, *, may_waive: bool) -> list[WarningWithWaiver]:
    waivers = {w.constraint: w for w in Waiver.objects.filter(spec=spec).select_related("by")}
    found = []
    for said in warnings_of([spec])[spec.pk]:
        initial = {"constraint": said.constraint}
        form = WaiveForm(key=f"waive-{said.constraint}", initial=initial)
        offered_form = form if may_waive and not said.waived else None
        found.append(WarningWithWaiver(said, waivers.get(said.constraint), offered_form))
    return found


def _blocked(
    spec: Spec, questions: list[FlagQuestion], standing: CitationState | None, person: Any
) -> list[str]:
    """Why a proposal cannot be approved by this person now, in sentences."""
    if spec.state != SpecState.PROPOSED:
        return []
    reasons = [
        f"The flag ‘{question.flag.get_kind_display()}’ is open; it has to be answered first."
        for question in questions
    ]
    if standing is None:
        reasons.append("It has no source; values without a source are not approved.")
    elif standing not in (CitationState.OK, CitationState.MOVED) and not questions:
        reasons.append(f"Its citation is {standing} in the newest text.")
    personal = refusal("approve", spec, person)
    return [*reasons, personal] if personal else reasons


def _propose_url(spec: Spec, flag: Flag | None = None) -> str:
    """The form for another value of the same question, at the lines that matter."""
    same = flag is not None and flag.kind not in DRIFT
    query: dict[str, Any] = {"like": spec.pk}
    if same and spec.replaces_id is not None:
        query["replaces"] = spec.replaces_id
    elif not same and spec.state == SpecState.APPROVED:
        query["replaces"] = spec.pk
    if flag is not None and flag.revision is not None:
        query |= {"doc": flag.revision.document.path, "rev": flag.revision.short}
        if not same:
            query |= {"first": flag.first_line or "", "last": flag.last_line or ""}
    return f"{reverse('knowledge:propose')}?{urlencode(query)}"


def _place_refused(
    bound: DecisionForm,
    steps: dict[str, DecisionForm],
    questions: list[FlagQuestion],
    warnings: list[WarningWithWaiver],
) -> DecisionForm | None:
    """Show a refused form where its empty twin would stand; return it where there is no such."""
    for question in questions:
        for name, form in question.forms.items():
            if form.key == bound.key:
                question.forms[name] = bound
                return None
    for warning in warnings:
        if warning.form is not None and warning.form.key == bound.key:
            warning.form = bound
            return None
    if bound.key not in STATES:
        return bound
    steps[bound.key] = bound
    return None
