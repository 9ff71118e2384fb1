"""The review queue, and decisions about rounds and results; after one the next item opens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import get_conditional_response, patch_cache_control
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from campaigns.api.review import WaitingSerializer
from campaigns.models import Campaign, DecisionWord, ReviewDecision, Round
from campaigns.records.decisions import MAY_RERUN, Reviewed, reviewed_result, reviewed_round
from campaigns.records.review_queue import ReviewQueue, queue_mark, review_queue, rows_of_queue
from campaigns.records.series import may_be_in_series
from campaigns.records.submissions import no_round_left, not_now
from campaigns.rules.review.standing import RERUN
from campaigns.steps.review.decide import decide as take_decision
from campaigns.steps.review.decide import undo as take_back
from campaigns.views.lookup import UNDO, campaign_at, number_in, offer_undo, round_at
from knowledge.curation.errors import Conflict, CurationError, Forbidden
from knowledge.lookup.threads import thread_of
from knowledge.lookup.waiting import Waiting, WaitingKind, queue_behind
from knowledge.models import SubjectKind
from knowledge.views.formats import list_file

PER_PAGE = 15
HEAD = "title kind asks author since"


@require_safe
def queue(request: HttpRequest) -> HttpResponse:
    """`?kind=` keeps one kind, `?mine=1` what waits for this person, `?page=`, `?format=`."""
    found, kind = review_queue(request.user), _kind(request.GET.get("kind", ""))
    mine = request.GET.get("mine") == "1"
    waiting = found.of(kind, mine=mine)
    if file := list_file(request, "review", partial(_records, waiting, found), head=HEAD):
        return file
    page = Paginator(waiting, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "rows": rows_of_queue(list(page.object_list)),
        "page": page,
        "kind": kind,
        "mine": mine,
        "counts": found.counts(mine=mine),
        "count": len(found.mine if mine else found.waiting),
        "for_me": len(found.mine),
        "everything": len(found.waiting),
    }
    return render(request, "campaigns/review/queue.html", context)


def _records(waiting: Sequence[Waiting], found: ReviewQueue) -> list[dict[str, Any]]:
    """Records in the API's form."""
    rows = WaitingSerializer(rows_of_queue(waiting), many=True, context={"view": found})
    return list(rows.data)


@require_safe
@vary_on_headers("HX-Request")
def count(request: HttpRequest) -> HttpResponse:
    """How many wait for this person, as the navigation shows it; the queue for who opens it.

    Every page asks: a browser that knows the answer is told in one query that it still holds.
    """
    if not getattr(request, "htmx", False):
        return redirect("review")
    etag = f'"{queue_mark(request.user)}"'
    response: HttpResponse | None = get_conditional_response(request, etag=etag)
    if response is None:
        found = {"for_me": len(review_queue(request.user).mine)}
        response = render(request, "campaigns/review/count.html", found)
    response.headers["ETag"] = etag
    patch_cache_control(response, private=True, no_cache=True)
    return response


@require_safe
def following(request: HttpRequest) -> HttpResponse:
    """Open the oldest one of `?kind=` that waits for this person; the queue where none does."""
    kind = _kind(request.GET.get("kind", ""))
    waiting = review_queue(request.user).of(kind, mine=True)
    rows = rows_of_queue(waiting[:1])
    if rows:
        return redirect(f"{rows[0].url}?queue={kind or 'all'}")
    messages.info(request, "Nothing more waits for you here.")
    return redirect(reverse("review") + (f"?kind={kind}" if kind else ""))


def _kind(asked: str) -> str:
    return asked if asked in [*WaitingKind] else ""


def review_of(request: HttpRequest, found: Round) -> dict[str, Any]:
    """What the decision bar and the discussion of a round's page need; at most four queries."""
    thread = thread_of(SubjectKind.ROUND, f"{found.campaign_id}/{found.number}")
    # A line of the diff or a case, whose form is open.
    asked = request.GET.get("comment", "")
    parts = {"thread": thread, "commented": number_in(asked), "commented_case": asked}
    return _bar(request, reviewed_round(found)) | parts


def review_of_result(request: HttpRequest, found: Campaign) -> dict[str, Any]:
    """The same for a campaign's page; a campaign that runs costs one query."""
    key = str(found.pk)
    return _bar(request, reviewed_result(found)) | {"thread": thread_of(SubjectKind.CAMPAIGN, key)}


def _bar(request: HttpRequest, found: Reviewed | None) -> dict[str, Any]:
    if found is None:
        return {"reviewed": None}
    own = {row.word for row in found.counting if row.by_id == request.user.pk}
    refusal = found.refusal(request.user)
    return {
        "reviewed": found,
        "refusal": refusal,
        "offered": () if refusal else [w for w in found.choices if w not in own],
        "own_word": next((DecisionWord(word).label for word in own), ""),
        "no_rerun": _no_rerun(request, found),
        "queue": request.GET.get("queue", ""),
        "undone_keys": {row.undoes_id for row in found.log},
    }


def _no_rerun(request: HttpRequest, found: Reviewed) -> str:
    """Why a round cannot be sent for a re-run now, in a few words; "" where it can."""
    if found.round is None or RERUN not in found.choices:
        return ""
    if found.campaign.is_finished and not may_be_in_series(found.round):
        return "a finished campaign takes no round"
    if found.is_incumbent and not found.campaign.is_finished:
        return "each round measures the incumbent"
    if not request.user.has_perm(MAY_RERUN):
        return "needs the role engineer or lead"
    if found.campaign.is_finished:
        return ""
    return not_now(found.campaign) or no_round_left(found.campaign)


@require_http_methods(["GET", "HEAD", "POST"])
def decide_round(request: HttpRequest, campaign_id: int, number: int) -> HttpResponseBase:
    """GET shows the bar alone; POST decides about a round."""
    return _decide(request, round_at(campaign_at(campaign_id), number))


@require_http_methods(["GET", "HEAD", "POST"])
def decide_result(request: HttpRequest, campaign_id: int) -> HttpResponseBase:
    """The same about the campaign's result."""
    return _decide(request, campaign_at(campaign_id))


def _decide(request: HttpRequest, about: Campaign | Round) -> HttpResponseBase:
    said = {name: request.POST.get(name, "") for name in ("word", "reason")}
    if request.method != "POST":
        return _alone(request, about, said, status=200)
    seen = number_in(request.POST.get("seen", ""))
    try:
        made = take_decision(about, said["word"], said["reason"], request.user, seen)
    except Forbidden as error:
        return _refused(request, error, 403, _address(about))
    except CurationError as error:
        return _alone(request, about, said, error=error)
    except Conflict as error:
        return _alone(request, about, said, error=error, status=409)
    _offer_undo(request, made)
    waited = queue_behind(f"?queue={request.POST.get('queue', '')}")
    if waited is None:
        return redirect(_page_of(made))
    return redirect(reverse("review_next") + (f"?kind={waited}" if waited else ""))


def _alone(
    request: HttpRequest,
    about: Campaign | Round,
    said: dict[str, str],
    *,
    error: Exception | None = None,
    status: int = 422,
) -> HttpResponse:
    """The bar on a page of its own, with what was typed and why it was refused."""
    round_ = about if isinstance(about, Round) else None
    campaign = about.campaign if isinstance(about, Round) else about
    found = reviewed_round(round_) if round_ else reviewed_result(campaign)
    context = _bar(request, found) | {"typed": said["reason"], "refused": error}
    context |= {"campaign": campaign, "round": round_}
    context["queue"] = request.POST.get("queue", request.GET.get("queue", ""))
    return render(request, "campaigns/review/decide.html", context, status=status)


def _refused(request: HttpRequest, error: Exception, status: int, back: str) -> HttpResponse:
    context = {"message": str(error), "status": status, "back": back}
    return render(request, "knowledge/conflict.html", context, status=status)


def _address(about: Campaign | Round) -> str:
    if isinstance(about, Campaign):
        return reverse("campaign", args=[about.pk])
    return reverse("round", args=[about.campaign_id, about.number])


def _page_of(decision: ReviewDecision) -> str:
    return _address(decision.round or decision.campaign)


def _offer_undo(request: HttpRequest, made: ReviewDecision) -> None:
    about = f"Round {made.round.number}" if made.round else "The result"
    words = f"{about} of campaign {made.campaign_id}: {made.get_word_display()}."
    offer_undo(request, reverse("undo_decision", args=[made.campaign_id, made.pk]), words)


@require_POST
def undo(request: HttpRequest, campaign_id: int, key: int) -> HttpResponse:
    """Take an own decision back, and show what it was about."""
    rows = ReviewDecision.objects.select_related("round", "campaign", "by")
    found = get_object_or_404(rows, pk=key, campaign=campaign_id)
    request.session.pop(UNDO, None)
    try:
        take_back(found, request.user)
    except Forbidden as error:
        return _refused(request, error, 403, _page_of(found))
    except Conflict as error:
        return _refused(request, error, 409, _page_of(found))
    messages.success(request, f"Taken back: {found.get_word_display()}.")
    return redirect(_page_of(found))
