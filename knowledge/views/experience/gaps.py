"""The questions that nobody has answered: asked, answered, closed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from knowledge.api.experience import GapSerializer
from knowledge.curation.errors import CurationError, Forbidden
from knowledge.curation.people import may_propose, may_review
from knowledge.experience.lessons.gaps import (
    LONGEST_QUERY,
    answer_gap,
    ask_gap,
    close_gap,
    near_gaps,
)
from knowledge.experience.lessons.new import known_values
from knowledge.forms.decide import DecisionForm, ReasonForm, add_refusal
from knowledge.forms.lesson import AnswerForm, GapForm
from knowledge.models import Gap, GapState
from knowledge.views.actions import refused, refusing
from knowledge.views.formats import list_file

PER_PAGE = 30
ANYWAY = "anyway"  # the button that stores a question beside those that ask nearly the same


@require_http_methods(["GET", "HEAD", "POST"])
def gaps(request: HttpRequest) -> HttpResponse:
    """GET lists `?state=` and fills the form from `?q=` and a scope; POST asks a question."""
    if request.method != "POST":
        asked = {name: request.GET.get(name, "").replace("\0", "") for name in (*Gap.SCOPE, "q")}
        query = asked.pop("q")[:LONGEST_QUERY]
        return _page(request, GapForm(initial=asked | {"query": query}))
    if not may_propose(request.user):
        words = "Asking needs the role engineer, curator or lead."
        return refused(request, Forbidden(words), request.path)
    form = GapForm(request.POST)
    if form.is_valid():
        new = form.gap()
        near = [] if request.POST.get("do") == ANYWAY else near_gaps(new.question)
        if near:
            return _page(request, form, near=near)
        try:
            made = ask_gap(new, request.user)
        except CurationError as error:
            add_refusal(form, error)
        else:
            messages.success(request, "Question asked. It is found by search from now on.")
            return redirect(made)
    return _page(request, form, status=422)


def _gap_at(pk: int) -> Gap:
    return get_object_or_404(Gap, pk=pk)


def _settling(
    form_of: type[DecisionForm], word: str, settle: Callable[[Gap, Any, dict[str, Any]], Gap]
) -> Callable[..., HttpResponseBase]:
    """A view that settles one question with what the person wrote."""

    @require_POST
    @refusing(_gap_at)
    def view(request: HttpRequest, pk: int) -> HttpResponse:
        gap = _gap_at(pk)
        form = form_of(request.POST, key=f"{word}-{pk}")
        if not may_propose(request.user):
            raise Forbidden("Settling needs the role engineer, curator or lead.")
        try:
            if form.is_valid():
                done = settle(gap, request.user, form.cleaned_data)
                messages.success(request, f"Question {done.get_state_display()}.")
                return redirect(done)
        except CurationError as error:
            add_refusal(form, error)
        return _page(request, GapForm(), bound=form, only=gap, status=422)

    return view


gap_answer = _settling(
    AnswerForm, "answer", lambda gap, by, said: answer_gap(gap, by, said["why"], **said["answer"])
)
gap_close = _settling(ReasonForm, "close", lambda gap, by, said: close_gap(gap, by, said["why"]))


def _page(
    request: HttpRequest,
    form: GapForm,
    *,
    near: Any = (),
    bound: DecisionForm | None = None,
    only: Gap | None = None,
    status: int = 200,
) -> HttpResponse:
    state = request.GET.get("state", GapState.OPEN)
    state = state if state in GapState.values else GapState.OPEN
    rows = Gap.objects.filter(state=state).select_related("asked_by", "closed_by", "lesson")
    if only is not None:
        rows = Gap.objects.filter(pk=only.pk)
    if file := list_file(
        request, "gaps", rows, GapSerializer, "question state op backend platform"
    ):
        return file
    page = Paginator(rows.select_related("entry__track"), PER_PAGE).get_page(
        request.GET.get("page")
    )
    context = {
        "form": form,
        "near": near,
        "state": state,
        "tabs": [(*each, Gap.objects.filter(state=each[0]).count()) for each in GapState.choices],
        "page": page,
        "rows": [(gap, _forms(gap, request.user, bound)) for gap in page.object_list],
        "known": [(name, known_values(name)) for name in Gap.SCOPE],
        "may_ask": may_propose(request.user),
    }
    return render(request, "knowledge/experience/gaps.html", context, status=status)


def _forms(gap: Gap, person: Any, bound: DecisionForm | None) -> list[tuple[str, DecisionForm]]:
    """The forms that settle an open question, as far as this person may."""
    if gap.state != GapState.OPEN or not may_propose(person):
        return []
    found: list[tuple[str, DecisionForm]] = [("answer", AnswerForm(key=f"answer-{gap.pk}"))]
    if gap.asked_by == person or may_review(person):
        found.append(("close", ReasonForm(key=f"close-{gap.pk}")))
    return [(word, bound if bound and bound.key == form.key else form) for word, form in found]
