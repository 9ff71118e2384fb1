"""What pages share: objects that addresses name, who may change them, fragments and files; and the
offer to take something back."""

from __future__ import annotations

from django.contrib.auth.decorators import permission_required
from django.db.models import Count, OuterRef, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone

from campaigns.models import Campaign, Candidate, Round
from campaigns.records.series import newest_entry
from campaigns.reports.rows import with_standing
from knowledge.models import ProjectWork, WorkKind

# No row and no file has more; int() refuses very long texts with an error of its own.
MOST_DIGITS = 9
OFFERED_S = 10  # how long pages offer to take something back
UNDO = "undo"  # the key of a session

may_run = permission_required("campaigns.add_campaign", raise_exception=True)
may_change = permission_required("campaigns.change_campaign", raise_exception=True)


def campaign_at(campaign_id: int) -> Campaign:
    """The campaign with problem, platform, protocol, owner and its project's name."""
    rows = Campaign.objects.select_related(
        "problem", "platform", "protocol", "created_by", "archived"
    )
    work = ProjectWork.objects.filter(kind=WorkKind.CAMPAIGN, key=OuterRef("pk"))
    named = rows.annotate(**newest_entry(), project_name=Subquery(work.values("project__name")))
    return get_object_or_404(named, pk=campaign_id)


def round_at(campaign: Campaign, number: int) -> Round:
    """The round with verdict, chosen candidate and rival."""
    rows = campaign.rounds.select_related(
        "verdict__evaluation__worker",
        "chosen",
        "against__round",
        "commit",
        "sweep",
        "submission__against__round",
    )
    counted = with_standing(rows).annotate(candidate_count=Count("candidates"))
    found: Round = get_object_or_404(counted, number=number)
    found.campaign = campaign
    return found


def candidate_of(round_: Round) -> Candidate | None:
    """The candidate that a round is about: the chosen one, else its first."""
    return round_.chosen or round_.candidates.first()


def number_in(text: str) -> int | None:
    """The number that an address's parameter holds; None for nonsense and for absurd lengths."""
    fits = text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
    return int(text) if fits else None


def wants_fragment(request: HttpRequest) -> bool:
    """Say whether only the changing part is asked for; never on Back or reload."""
    headers = request.headers
    return "HX-Request" in headers and headers.get("HX-History-Restore-Request") != "true"


ZIP = "application/zip"


def download(content: bytes | str, name: str, content_type: str | None = None) -> HttpResponse:
    """A file under this name, which no foreign text may be in: it goes into a header."""
    response = HttpResponse(content, content_type=content_type)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def offer_undo(request: HttpRequest, url: str, words: str) -> None:
    """Let the next pages offer to take back what was done. url: takes a POST; words: what it was.

    `undo_offer` of the template tags reads it, and `campaigns/review/toast.html` shows it.
    """
    until = timezone.now().timestamp() + OFFERED_S
    request.session[UNDO] = {"url": url, "words": words, "until": until}
