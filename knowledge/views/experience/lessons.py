"""The lessons side by side, one lesson with its life, and the form that records or edits one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from knowledge.api.experience import LessonSerializer
from knowledge.curation.errors import CurationError, Forbidden
from knowledge.curation.people import PROPOSERS, may_propose, may_review
from knowledge.experience.lessons.ask import similar_lessons
from knowledge.experience.lessons.decide import (
    approve_lesson,
    brought_by,
    edit_lesson,
    propose_lesson,
    restore,
    resubmit,
    retract_lesson,
    return_lesson,
)
from knowledge.experience.lessons.listing import (
    BY_SCOPE,
    LessonFilters,
    cards,
    entry_words,
    left_out,
    lessons_matching,
    newer_versions_of_lesson,
)
from knowledge.experience.lessons.listing import STATES as LISTED
from knowledge.experience.lessons.new import LONGEST, known_values, lesson_values
from knowledge.forms.decide import ApproveForm, DecisionForm, ReasonForm, add_refusal
from knowledge.forms.lesson import UUID_IN_TEXT, LessonForm
from knowledge.lookup.listing import FilterError, slug_meant
from knowledge.models import IN_USE, ConflictState, Experience, Lesson, LessonState
from knowledge.views.actions import onward, refusing
from knowledge.views.formats import file_asked, file_refusal, list_file, record_file
from knowledge.views.list_views import bar_of
from knowledge.views.propose import number

PER_COLUMN = 30
LONGEST_QUERY = 500
HEAD = "takeaway signal state op backend platform confirmed contradicted"
ANYWAY = "anyway"  # the button that stores a lesson beside those that say nearly the same
MOST_KNOWN, MOST_USES = 3, 20
TEMPLATE = "knowledge/experience/lesson_new.html"
OWN = "You proposed this lesson, so another curator decides on it."
PROPOSED, RETURNED, RETRACTED = LessonState.PROPOSED, LessonState.RETURNED, LessonState.RETRACTED
# Each step of curation with the states in which it makes sense.
STEPS: dict[str, tuple[Callable[..., Lesson], tuple[str, ...]]] = {
    "approve": (approve_lesson, (PROPOSED,)),
    "return": (return_lesson, (PROPOSED,)),
    "resubmit": (resubmit, (RETURNED,)),
    "retract": (retract_lesson, (PROPOSED, RETURNED, *IN_USE)),
    "restore": (restore, (RETRACTED,)),
}


@require_safe
def lessons(request: HttpRequest) -> HttpResponse:
    """`?op= &backend= &platform= &arch= &state= &q= &page= &format=`, all optional."""
    bar = bar_of(request, "lessons")
    if isinstance(bar, HttpResponse):
        return bar
    asked, error = _query_of(request)
    found = lessons_matching(asked) if not error else Lesson.objects.none()
    if error and file_asked(request):
        return file_refusal(request, error)
    rests = found.prefetch_related("evidence__entry")
    if file := list_file(request, "lessons", rests, LessonSerializer, HEAD):
        return file
    wanted = number(request.GET.get("page"), 6) or 1
    pages = [Paginator(found.filter(avoid=a), PER_COLUMN).get_page(wanted) for a in (False, True)]
    for page in pages:
        if wanted > page.paginator.num_pages:  # nothing where the other column is longer
            page.object_list = []
    longest = max(pages, key=lambda page: int(page.paginator.num_pages))
    context = {
        "bar": bar,
        "asked": asked,
        "error": error,
        "columns": [
            (name, page.paginator.count, cards(page.object_list))
            for name, page in zip(("worked", "did-not"), pages, strict=True)
        ],
        "page": longest,
        "count": sum(page.paginator.count for page in pages),
        "left_out": left_out(asked) if not error else [],
        "scopes": [(name, getattr(asked, name), lesson_values(name)) for name in BY_SCOPE],
        "states": LessonState.choices,
        "may_propose": may_propose(request.user),
    }
    return render(
        request, "knowledge/experience/lessons.html", context, status=400 if error else 200
    )


def _query_of(request: HttpRequest) -> tuple[LessonFilters, FilterError | None]:
    given = {name: request.GET.get(name, "") for name in (*BY_SCOPE, "state", "q")}
    plain = {name: text.replace("\0", "").strip() for name, text in given.items()}
    plain["platform"] = slug_meant(plain["platform"])
    state = plain["state"]
    if state not in LISTED:
        accepted = ", ".join(LISTED[1:])
        words = f"'{state[:40]}'; accepted: {accepted}, or none for in use"
        return LessonFilters(), FilterError("state", words)
    if len(plain["q"]) > LONGEST_QUERY:
        words = f"{len(plain['q'])} characters; accepted: at most {LONGEST_QUERY}"
        shown = plain | {"q": plain["q"][:LONGEST_QUERY]}
        return LessonFilters(**shown), FilterError("q", words)
    return LessonFilters(**plain), None


def refusal_of(name: str, lesson: Lesson, person: Any) -> str:
    """Why this person may not take this step, in a sentence; empty if they may."""
    own = lesson.proposed_by == person
    if name in ("approve", "return"):
        if not may_review(person):
            return "Reviewing needs the role curator or lead."
        return OWN if brought_by(lesson, person) else ""
    if name == "retract" and not (own and may_propose(person) and not lesson.in_use):
        return "" if may_review(person) else "Retracting needs the role curator or lead."
    if not may_propose(person):
        return "Proposing needs the role engineer, curator or lead."
    return "Only its author does this." if name in ("resubmit", "edit") and not own else ""


def form_of(step: str, data: Any = None, seen: int | None = None) -> DecisionForm:
    """The form of one step, bound if there is data. seen: the newest change that the page shows."""
    kind = ApproveForm if step == "approve" else ReasonForm
    return kind(data, key=step, initial={"seen": seen})


def lesson_at(key: UUID) -> Lesson:
    return get_object_or_404(Lesson.objects.select_related("proposed_by"), uuid=key)


@require_safe
def lesson(request: HttpRequest, key: UUID) -> HttpResponse:
    """Everything about one lesson, and the buttons that this person may use."""
    found = lesson_at(key)
    file = record_file(request, f"lesson-{key}", found, LessonSerializer)
    return file or lesson_page(request, found)


@require_POST
@refusing(lesson_at)
def lesson_step(request: HttpRequest, key: UUID, step: str) -> HttpResponseBase:
    """Take one step of curation; rights come before anything that was written."""
    if step not in STEPS:
        raise Http404(f"no step '{step}'; accepted: {', '.join(STEPS)}")
    found = lesson_at(key)
    if forbidden := refusal_of(step, found, request.user):
        raise Forbidden(forbidden)
    form = form_of(step, request.POST)
    if form.is_valid():
        said = form.cleaned_data
        try:
            take, _ = STEPS[step]
            take(found, request.user, said["why"], seen=said.get("seen"))
        except CurationError as error:
            add_refusal(form, error)
        else:
            last = found.changes.first()
            messages.success(request, f"Lesson {last.done if last else 'changed'}.")
            return onward(request, found)
    return lesson_page(request, lesson_at(key), bound=form, status=422)


def lesson_page(
    request: HttpRequest, found: Lesson, bound: DecisionForm | None = None, status: int = 200
) -> HttpResponse:
    """The page; `bound` is a form that was refused and takes the place of its empty twin."""
    history = list(found.changes.select_related("by"))
    seen = history[0].pk if history else None
    person, waits = request.user, found.state == PROPOSED
    allowed = [step for step in (*STEPS, "edit") if not refusal_of(step, found, person)]
    forms = {
        step: form_of(step, seen=seen)
        for step, (_, states) in STEPS.items()
        if found.state in states and step in allowed
    }
    if bound is not None and bound.key in forms:
        forms[bound.key] = bound
    asked = found.disagreements.select_related("first__track", "by")
    rests = found.evidence.select_related("entry__track", "by")
    context: dict[str, Any] = {
        "lesson": found,
        "texts": [(name, getattr(found, name)) for name in LONGEST],
        "sides": [
            ("confirms", rests.filter(agrees=True)),
            ("contradicts", rests.filter(agrees=False)),
        ],
        "open": [each for each in asked if each.state == ConflictState.OPEN],
        "decided": [each for each in asked if each.state == ConflictState.DECIDED],
        "uses": found.adoptions.all()[:MOST_USES],
        "used": found.adoptions.count(),
        "stale": newer_versions_of_lesson(found),
        "history": history,
        "steps": [
            (step, reverse("experience:lesson_step", args=[found.uuid, step]), form)
            for step, form in forms.items()
        ],
        "own": OWN if waits and may_review(person) and brought_by(found, person) else "",
        "edit": found.state in (PROPOSED, RETURNED) and "edit" in allowed,
    }
    return render(request, "knowledge/experience/lesson.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def lesson_new(request: HttpRequest) -> HttpResponse:
    """GET fills the form from `?entry=` or `?campaign= &round=`; POST stores the proposal."""
    if not may_propose(request.user):
        return render(request, TEMPLATE, {"roles": PROPOSERS}, status=403)
    entry = _entry_of(request.GET)
    if request.method != "POST":
        if entry is None:
            named = next((name for name in ("round", "entry") if request.GET.get(name)), "")
            return _page(request, LessonForm(initial={}), missing=named)
        known = Lesson.objects.filter(state__in=IN_USE, strategy=entry.track.strategy)
        form = LessonForm(initial=_from_entry(entry))
        return _page(request, form, entry=entry, similar=known[:MOST_KNOWN])
    form = LessonForm(request.POST)
    similar: list[Lesson] = []
    if form.is_valid():
        said = form.cleaned_data
        if request.POST.get("do") != ANYWAY:
            similar = similar_lessons(said["takeaway"], strategy=said["strategy"])
        if similar:
            return _page(request, form, entry=entry, similar=similar, asked=True)
        try:
            made = propose_lesson(form.lesson(entry.campaign if entry else None), request.user)
        except CurationError as error:
            add_refusal(form, error)
        else:
            messages.success(request, "Lesson proposed. Another curator will review it.")
            return redirect(made)
    return _page(request, form, entry=entry, status=422)


@require_http_methods(["GET", "HEAD", "POST"])
@refusing(lesson_at)
def lesson_edit(request: HttpRequest, key: UUID) -> HttpResponse:
    """Its author writes it anew before it is approved."""
    found = lesson_at(key)
    if forbidden := refusal_of("edit", found, request.user):
        raise Forbidden(forbidden)
    if request.method != "POST":
        last = found.changes.first()
        names, seen = (*LONGEST, *Lesson.SCOPE), last.pk if last else None
        rests = found.evidence.filter(agrees=True).values_list("entry__uuid", flat=True)[:50]
        initial = {name: getattr(found, name) for name in names} | {
            "avoid": "1" if found.avoid else "",
            "evidence": "\n".join(str(uuid) for uuid in rests),
            "seen": seen,
        }
        return _page(request, LessonForm(initial=initial), found)
    form = LessonForm(request.POST)
    if form.is_valid():
        said = form.cleaned_data
        new = form.lesson(found.campaign)
        try:
            edit_lesson(found, new, request.user, said["why"], seen=said["seen"])
        except CurationError as error:
            add_refusal(form, error)
        else:
            messages.success(request, "Lesson edited.")
            return redirect(found)
    return _page(request, form, found, status=422)


def _page(
    request: HttpRequest,
    form: LessonForm,
    lesson: Lesson | None = None,
    *,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    known = [(name, known_values(name)) for name in Lesson.SCOPE]
    context = {"form": form, "lesson": lesson, "known": known, **more}
    return render(request, TEMPLATE, context, status=status)


def _entry_of(asked: QueryDict) -> Experience | None:
    """The attempt that the address names by its id, or by its round."""
    rows = Experience.objects.select_related("track")
    named = UUID_IN_TEXT.fullmatch(asked.get("entry", ""))
    if named:
        return rows.filter(uuid=named[0]).first()
    numbers = [asked.get(name, "") for name in ("campaign", "round")]
    if all(each.isascii() and each.isdigit() and len(each) < 10 for each in numbers):
        return rows.filter(campaign=int(numbers[0]), round=int(numbers[1])).first()
    return None


def _from_entry(entry: Experience) -> dict[str, Any]:
    """What an attempt says by itself; the takeaway and where it holds are for a person to say."""
    track = entry.track
    facts = [entry.title or track.strategy, entry.change, entry.precondition]
    signal = [entry_words(entry), *(str(each) for each in entry.evidence)]
    if track.bottleneck != "unknown":
        signal.insert(1, f"limited by {track.get_bottleneck_display()} before")
    scope = {name: getattr(track, name) for name in Lesson.SCOPE}
    return scope | {
        "context": "\n".join(text for text in facts if text)[: LONGEST["context"]],
        "signal": "\n".join(signal)[: LONGEST["signal"]],
        "avoid": "" if entry.label in ("success", "small", "micro") else "1",
        "evidence": str(entry.uuid),
    }
