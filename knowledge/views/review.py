"""The review queue: proposals and open flags, oldest first; what is sound is approved at once."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from knowledge.api.specs import SpecSerializer
from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.curation.people import may_review
from knowledge.curation.review import approve
from knowledge.curation.turn import newest_changes, turn
from knowledge.curation.warn import warnings_of
from knowledge.experience.lessons.listing import open_disagreements, proposed_lessons
from knowledge.lookup.spec_json import spec_records
from knowledge.lookup.standing import notes_of, standings
from knowledge.lookup.usage import Replacement, SpecUse, uses
from knowledge.lookup.waiting import waiting_values
from knowledge.models import Flag, Spec, SpecState
from knowledge.specs.citation import CitationState
from knowledge.views.actions import refusal, refused, require_as_seen
from knowledge.views.formats import list_file
from knowledge.views.propose import number

PER_PAGE = 100
HEAD = "metric platform qualifiers shown state citation.text"
MOST_LEARNED = 50  # lessons, and disagreements; deciding on one makes room for the next


@dataclass(slots=True)
class WaitingSpec:
    """One value that waits: since when, what is open on it, what it affects, what stops it.

    seen: the key of the newest change that this page shows.
    """

    spec: Spec
    since: datetime
    flags: list[Flag] = field(default_factory=list)
    standing: CitationState | None = None
    warnings: list[str] = field(default_factory=list)
    uses: list[SpecUse] = field(default_factory=list)
    blocked: list[str] = field(default_factory=list)
    seen: int | None = None

    @property
    def proposed(self) -> bool:
        return self.spec.state == SpecState.PROPOSED

    @property
    def moving(self) -> int:
        """The number of targets that would change."""
        return sum(use.moves for use in self.uses)


@require_http_methods(["GET", "HEAD", "POST"])
def review(request: HttpRequest) -> HttpResponse:
    """GET lists what waits; POST approves the ticked proposals, each wholly or not at all."""
    if request.method == "POST":
        if not may_review(request.user):
            return refused(request, Forbidden("Approving needs the role curator or lead."))
        return _approve_ticked(request)
    if file := list_file(request, "review", _queued, SpecSerializer, HEAD):
        return file
    page = Paginator(_queue(), PER_PAGE).get_page(request.GET.get("page"))
    waiting = _load(list(page), request.user)
    context = {
        "page": page,
        "waiting": waiting,
        "cite_notes": notes_of({i.spec.pk: i.standing for i in waiting if i.standing}),
        "may_review": may_review(request.user),
        "lessons": proposed_lessons()[:MOST_LEARNED],
        "disagreements": open_disagreements()[:MOST_LEARNED],
        "can_approve": any(item.proposed and not item.blocked for item in waiting),
    }
    return render(request, "knowledge/review.html", context)


def _queue() -> list[tuple[datetime, int]]:
    """(since, spec key) of every proposal and every flagged value, oldest first, each once."""
    return sorted((one.since, one.key) for one in waiting_values())


def _queued() -> list[dict[str, Any]]:
    """The values of the queue as the API has them."""
    keys = [key for _, key in _queue()]
    specs = Spec.objects.for_sheet().in_bulk(keys)
    return spec_records([specs[key] for key in keys if key in specs])


def _load(rows: list[tuple[datetime, int]], person: Any) -> list[WaitingSpec]:
    """The values of one page with all that is said of them, in a fixed number of queries."""
    keys = [key for _, key in rows]
    specs = Spec.objects.for_sheet().select_related("replaces__platform").in_bulk(keys)
    found, warnings = standings(list(specs.values())), warnings_of(list(specs.values()))
    flags: dict[int, list[Flag]] = defaultdict(list)
    for flag in Flag.objects.open().filter(spec__in=keys).select_related("raised_by"):
        flags[flag.spec_id].append(flag)
    waiting = [
        WaitingSpec(specs[key], since, flags[key], found.get(key))
        for since, key in rows
        if key in specs
    ]
    newest = newest_changes(specs.values())
    swaps = []
    for spec in (item.spec for item in waiting):
        replaced = spec.replaces if spec.state == SpecState.PROPOSED else None
        swaps.append(Replacement(replaced, spec) if replaced else Replacement(spec))
    for item, used in zip(waiting, uses(swaps), strict=True):
        item.uses = used
        open_ones = (each for each in warnings[item.spec.pk] if not each.waived)
        item.warnings = [each.message for each in open_ones]
        item.blocked = _blocked(item, person)
        item.seen = newest.get(item.spec.pk)
    return waiting


def _blocked(item: WaitingSpec, person: Any) -> list[str]:
    """Why a proposal may not be approved together with others."""
    reasons = [f"flag ‘{flag.get_kind_display()}’ is open" for flag in item.flags]
    if item.standing is None:
        reasons.append("it has no citation")
    elif item.standing is not CitationState.OK and not item.flags:
        reasons.append(f"its citation is {item.standing}")
    reasons += [f"warning: {message}" for message in item.warnings]
    own = refusal("approve", item.spec, person)
    return [*reasons, own] if own else reasons


def _approve_ticked(request: HttpRequest) -> HttpResponse:
    """Take the ticked ones one by one: one that fails is reported and leaves nothing behind."""
    keys = [number(key) for key in request.POST.getlist("spec")]
    ticked = {key for key in keys if key is not None}
    if not ticked:
        messages.warning(request, "Nothing is selected; select one or more proposals.")
        return redirect("knowledge:review")
    found = _load([(at, key) for at, key in _queue() if key in ticked], request.user)
    for key in sorted(ticked - {item.spec.pk for item in found}):
        messages.error(request, f"Value {key} is no longer waiting for a review.")
    for item in found:
        # The newest change that the page showed of this value when it was ticked.
        seen = number(request.POST.get(f"seen-{item.spec.pk}"), 18)
        problem = "; ".join(item.blocked)
        if not item.proposed:
            problem = f"it is {item.spec.state}, and only proposals are approved"
        if not problem:
            try:
                with turn(item.spec):
                    require_as_seen("approve", item.spec, seen)
                    approve(item.spec, request.user, "approved with others from the queue")
            except (Conflict, CurationError, Forbidden) as error:
                problem = str(error)
        if problem:
            messages.error(request, f"{item.spec}: not approved; {problem.rstrip('.')}.")
        else:
            messages.success(request, f"{item.spec}: approved.")
    return redirect("knowledge:review")
