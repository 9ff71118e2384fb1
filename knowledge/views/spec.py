"""The page of one spec: its value, the lines it rests on, its rivals, uses, flags and history."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from knowledge.api.specs import SpecSerializer
from knowledge.curation.people import may_propose
from knowledge.curation.warn import warnings_of
from knowledge.forms.decide import DecisionForm, WaiveForm
from knowledge.lookup.standing import notes_of, standings
from knowledge.lookup.usage import Replacement, uses
from knowledge.models import DRIFT, Flag, Spec, SpecState, Waiver
from knowledge.specs.constraints import CONSTRAINTS
from knowledge.specs.facts import Rank
from knowledge.specs.quantity import format_number
from knowledge.views.actions import STATES, flag_forms, form_for, offered, refusal
from knowledge.views.formats import record_file

ORDER: list[str] = [SpecState.APPROVED, SpecState.PROPOSED, SpecState.RETURNED, SpecState.RETIRED]
RANKS: list[str] = list(Rank)


def spec_at(pk: int) -> Spec:
    """The spec with platform, author, citations and what it replaces."""
    specs = Spec.objects.for_sheet().select_related("replaces__platform")
    return get_object_or_404(specs, pk=pk)


@require_safe
def spec(request: HttpRequest, pk: int) -> HttpResponse:
    """Everything about one value, and the buttons that this person may use; `?format=`."""
    found = spec_at(pk)
    file = record_file(request, f"spec-{pk}", found, SpecSerializer)
    return file or spec_page(request, found)


def spec_page(
    request: HttpRequest, spec: Spec, bound: DecisionForm | None = None, status: int = 200
) -> HttpResponse:
    """The page; `bound` is a form that was refused and takes the place of its empty twin."""
    person = request.user
    rivals = answers(spec)
    found = standings([spec, *rivals])
    standing = found.get(spec.pk)
    replacement = _replacement(spec, rivals)
    swap = Replacement(spec, replacement)
    if spec.state == SpecState.PROPOSED and replacement is not None:
        swap = Replacement(replacement, spec)
    questions = _questions(spec, rivals, person, bound)
    steps = {step: form_for(step, spec, rivals) for step in offered(spec, person)}
    may_waive = steps.pop("waive", None) is not None
    may_not = refusal("approve", spec, person) if spec.state == SpecState.PROPOSED else ""
    holds = standing is not None and standing.holds
    is_blocked = spec.state == SpecState.PROPOSED and bool(questions or may_not or not holds)
    if is_blocked:
        steps.pop("approve", None)
    warnings = _warnings(spec, bound, may_waive=may_waive)
    if bound is not None and bound.key in STATES:
        steps[bound.key] = bound
    placed = [*steps.values(), *(each["form"] for each in warnings)]
    placed += [form for each in questions for form in each["forms"].values()]
    canonical = "" if spec.value is None else f"{format_number(spec.value)} {spec.unit}"
    context = {
        "spec": spec,
        "canonical": "" if canonical == spec.shown else canonical,
        "options": [(key.replace("_", "-"), value) for key, value in spec.qualifiers.items()],
        "standing": standing,
        "holds": holds,
        "cite_notes": notes_of(found),
        "rivals": [(rival, found.get(rival.pk)) for rival in rivals],
        "questions": questions,
        "warnings": warnings,
        "open_warnings": sum(not each["said"].waived for each in warnings),
        "steps": [(s, reverse(f"knowledge:{s}", args=[spec.pk]), f) for s, f in steps.items()],
        "is_blocked": is_blocked,
        "may_not": may_not,
        "homeless": None if bound in placed else bound,
        "can_approve": "approve" in steps,
        "swap": swap,
        "uses": uses([swap])[0],
        "history": spec.changes.select_related("by"),
        "propose_url": _propose_url(spec) if may_propose(person) else "",
    }
    return render(request, "knowledge/spec.html", context, status=status)


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


def _questions(
    spec: Spec, rivals: list[Spec], person: Any, bound: DecisionForm | None
) -> list[dict[str, Any]]:
    """The open flags, each with the answers that this person may give to it."""
    flags = Flag.objects.open().filter(spec=spec).select_related("revision__document", "raised_by")
    waiting = [rival for rival in rivals if rival.state == SpecState.PROPOSED]
    found = []
    for flag in flags:
        flag.spec = spec
        forms = {name: _twin(form, bound) for name, form in flag_forms(flag, person).items()}
        question = {
            "flag": flag,
            "drift": flag.kind in DRIFT,
            "forms": forms,
            "proposals": [rival for rival in waiting if rival.replaces_id == spec.pk],
            "propose_url": _propose_url(spec, flag) if may_propose(person) else "",
        }
        found.append(question)
    return found


def _warnings(spec: Spec, bound: DecisionForm | None, *, may_waive: bool) -> list[dict[str, Any]]:
    """What constraints say, each with its waiver, or the form that waives it for who may."""
    waivers = {w.constraint: w for w in Waiver.objects.filter(spec=spec).select_related("by")}
    found = []
    for said in warnings_of([spec])[spec.pk]:
        initial = {"constraint": said.constraint}
        form = WaiveForm(key=f"waive-{said.constraint}", initial=initial)
        offered_form = _twin(form, bound) if may_waive and not said.waived else None
        constraint, waiver = CONSTRAINTS[said.constraint], waivers.get(said.constraint)
        found.append(
            {"said": said, "constraint": constraint, "waiver": waiver, "form": offered_form}
        )
    return found


def _twin(form: DecisionForm, bound: DecisionForm | None) -> DecisionForm:
    """The refused form in the place of this empty one, if it is the same."""
    return bound if bound is not None and bound.key == form.key else form


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
