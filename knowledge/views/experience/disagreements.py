"""Two sides that say the opposite, on one page, and the decision between them."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from knowledge.api.experience import DisagreementSerializer
from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.curation.people import may_review
from knowledge.experience.attempts.disagreements import (
    Consequence,
    consequences_of,
    decide_disagreement,
)
from knowledge.experience.lessons.decide import brought_by
from knowledge.forms.decide import add_refusal
from knowledge.forms.lesson import DecideForm
from knowledge.models import ConflictState, Disagreement, Experience
from knowledge.specs.facts import named_values
from knowledge.views.actions import refusing
from knowledge.views.formats import list_file, record_file

PER_PAGE = 30
HEAD = "id first second lesson state decision by decided_at"
SIDES = ("first__track", "second__track", "lesson", "by")
EFFECTS = ("result", "pairs", "measured")  # what differs there is no condition
WORDS = {
    Consequence.BOTH_STAND: "Both stand, under the condition below",
    Consequence.RETRACT_LESSON: "Retract the lesson",
    Consequence.MASK_FIRST: "Mask the left attempt",
    Consequence.MASK_SECOND: "Mask the right attempt",
}


def facts_of(entry: Experience | None) -> dict[str, str]:
    """What an attempt showed and what it was measured with; empty for no attempt."""
    if entry is None:
        return {}
    track = entry.track
    return {
        "result": entry.get_label_display(),
        "strategy": track.strategy,
        "parameters": named_values(entry.params, ", "),
        "op": track.op,
        "dtype": track.dtype,
        "shapes": track.shape_class,
        "backend": track.backend,
        "platform": track.platform,
        "limited by": track.get_bottleneck_display(),
        "precondition": entry.precondition,
        "compiler": entry.compiler,
        "driver": entry.driver,
        "pairs": str(entry.pairs or ""),
        "measured": f"{entry.happened_at:%Y-%m-%d}",
    }


@require_safe
def disagreements(request: HttpRequest) -> HttpResponse:
    """`?state=decided` lists those; else the open ones, oldest first."""
    decided = request.GET.get("state") == ConflictState.DECIDED
    state = ConflictState.DECIDED if decided else ConflictState.OPEN
    rows = Disagreement.objects.filter(state=state).select_related(*SIDES).order_by("pk")
    if file := list_file(request, "disagreements", rows, DisagreementSerializer, HEAD):
        return file
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    counts = [(*s, Disagreement.objects.filter(state=s[0]).count()) for s in ConflictState.choices]
    context = {"page": page, "state": state, "tabs": counts}
    return render(request, "knowledge/experience/disagreements.html", context)


def _at(pk: int) -> Disagreement:
    return get_object_or_404(Disagreement.objects.select_related(*SIDES), pk=pk)


@require_http_methods(["GET", "HEAD", "POST"])
@refusing(_at)
def disagreement(request: HttpRequest, pk: int) -> HttpResponse:
    """GET shows both sides; POST decides."""
    item = _at(pk)
    if request.method != "POST":
        file = record_file(request, f"disagreement-{pk}", item, DisagreementSerializer)
        return file or _page(request, item, None)
    if words := _refusal(item, request.user):
        raise Forbidden(words)
    if item.state != ConflictState.OPEN:
        raise Conflict(f"{item.who} was first: {item.decision}")
    form = _form(item, request.POST)
    try:
        if form.is_valid():
            said = form.cleaned_data
            consequence = Consequence(said["consequence"])
            decide_disagreement(item, said["why"], request.user, consequence)
            messages.success(request, f"Decided: {item.decision}")
            return redirect(item)
    except CurationError as error:
        add_refusal(form, error)
    return _page(request, _at(pk), form, status=422)


def _refusal(item: Disagreement, person: Any) -> str:
    if not may_review(person):
        return "Deciding needs the role curator or lead."
    if item.lesson is not None and brought_by(item.lesson, person):
        return "The lesson is yours, so another curator decides."
    return ""


def _form(item: Disagreement, data: Any = None) -> DecideForm:
    offered = [(each, WORDS[each]) for each in consequences_of(item)]
    return DecideForm(data, key="decide", offered=offered)


def _page(
    request: HttpRequest, item: Disagreement, form: DecideForm | None, status: int = 200
) -> HttpResponse:
    refusal = _refusal(item, request.user)
    if form is None and item.state == ConflictState.OPEN and not refusal:
        form = _form(item)
    other = facts_of(item.second)
    rows = []
    for name, left in facts_of(item.first).items():
        right = other.get(name, "")
        if left or right:
            differs = bool(left and right and left != right) and name not in EFFECTS
            rows.append((name, left, right, differs))
    context = {"item": item, "rows": rows, "form": form, "refusal": refusal}
    return render(request, "knowledge/experience/disagreement.html", context, status=status)
