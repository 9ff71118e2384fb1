"""The review queue: proposals and open flags, oldest first; what is sound is approved at once."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db.models import Max, Q
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.curation.people import may_review
from knowledge.curation.review import approve
from knowledge.curation.turn import newest_changes, turn
from knowledge.curation.warn import warnings_of
from knowledge.experience.lessons.listing import open_disagreements, proposed_lessons
from knowledge.lookup.standing import notes_of, standings
from knowledge.lookup.usage import Replacement, SpecUse, uses
from knowledge.models import Action, Flag, Spec, SpecState
from knowledge.specs.citation import CitationState
from knowledge.specs.constraints import ConstraintWarning
from knowledge.views.actions import refusal, refused, require_as_seen

PER_PAGE = 100
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
            return refused(
                request, Forbidden("Approving needs the role curator or lead."), status=403
            )
        return _approve_ticked(request)
    page = Paginator(_queue(), PER_PAGE).get_page(request.GET.get("page"))
    waiting = _load(page, request.user)
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
    asked = Q(changes__action__in=[Action.PROPOSED, Action.RESTORED])
    proposals = Spec.objects.filter(state=SpecState.PROPOSED).order_by()
    since = dict(
        proposals.annotate(
            since=Coalesce(Max("changes__at", filter=asked), "created_at")
        ).values_list("pk", "since")
    )
    flagged = Flag.objects.open().exclude(spec__state=SpecState.RETIRED)
    for key, at in flagged.values_list("spec_id", "raised_at"):
        since[key] = min(at, since.get(key, at))
    return sorted((at, key) for key, at in since.items())


def _load(page: Page[Any], person: Any) -> list[WaitingSpec]:
    """The values of one page with all that is said of them, in a fixed number of queries."""
    keys = [key for _, key in page]
    specs = Spec.objects.for_sheet().select_related("replaces__platform").in_bulk(keys)
    found, warnings = standings(list(specs.values())), warnings_of(list(specs.values()))
    flags: dict[int, list[Flag]] = defaultdict(list)
    for flag in Flag.objects.open().filter(spec__in=keys).select_related("raised_by"):
        flags[flag.spec_id].append(flag)
    waiting = [
        WaitingSpec(specs[key], since, flags[key], found.get(key), _unwaived(warnings[key]))
        for since, key in page
        if key in specs
    ]
    newest = newest_changes(specs.values())
    asked = [_swap(item.spec) for item in waiting]
    for item, used in zip(waiting, uses(asked), strict=True):
        item.uses = used
        item.blocked = _blocked(item, person)
        item.seen = newest.get(item.spec.pk)
    return waiting


def _unwaived(warnings: list[ConstraintWarning]) -> list[str]:
    return [warning.message for warning in warnings if not warning.waived]


def _swap(spec: Spec) -> Replacement:
    if spec.state == SpecState.PROPOSED and spec.replaces is not None:
        return Replacement(spec.replaces, spec)
    return Replacement(spec)


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
    keys = [key for key in request.POST.getlist("spec") if key.isascii() and key.isdigit()]
    if not keys:
        messages.warning(request, "Nothing is selected; select one or more proposals.")
        return redirect("knowledge:review")
    ticked = {int(key) for key in keys if len(key) < 10}
    rows = sorted((at, key) for at, key in _queue() if key in ticked)
    page = Paginator(rows, max(1, len(rows))).get_page(1)
    found = _load(page, request.user)
    for key in sorted(ticked - {item.spec.pk for item in found}):
        messages.error(request, f"Value {key} is no longer waiting for a review.")
    for item in found:
        said = _approve_one(item, request.user, _newest_shown(request, item.spec))
        if said:
            messages.error(request, f"{item.spec}: not approved; {said}.")
        else:
            messages.success(request, f"{item.spec}: approved.")
    return redirect("knowledge:review")


def _newest_shown(request: HttpRequest, spec: Spec) -> int | None:
    """The newest change that the page showed of this value when it was ticked."""
    key = request.POST.get(f"seen-{spec.pk}", "")
    return int(key) if key.isascii() and key.isdigit() and len(key) < 19 else None


def _approve_one(item: WaitingSpec, person: Any, seen: int | None) -> str:
    """Approve it, or say why not."""
    if not item.proposed:
        return f"it is {item.spec.state}, and only proposals are approved"
    if item.blocked:
        return "; ".join(item.blocked).rstrip(".")
    try:
        with turn(item.spec):
            require_as_seen("approve", item.spec, seen)
            approve(item.spec, person, "approved with others from the queue")
    except (Conflict, CurationError, Forbidden) as error:
        return str(error).rstrip(".")
    return ""
