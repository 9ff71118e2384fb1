"""What a live page compares to learn whether anything has changed since it was drawn."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Subquery

from campaigns.models import Campaign, Evaluation, EvaluationState, Event
from campaigns.reports.sheet import WorkerHeartbeat
from knowledge.models import SpecChange

SILENCE_STEP_S = 10
# Of the largest key that a database gives out; int() refuses very long texts.
MOST_DIGITS = 19


@dataclass(frozen=True, slots=True)
class Version:
    """board: changes with every record. beat: changes with each heartbeat, also a missed one.

    wiki: changes with every decision, proposal and flag on a value of the platform. last_event: the
    key of the newest event, so that a page can request the later ones.
    """

    board: str
    beat: str
    wiki: str
    last_event: int

    def __str__(self) -> str:
        return f"{self.board}~{self.beat}~{self.wiki}"

    @staticmethod
    def board_of(text: str) -> str:
        """The board part of a version that came back from a page."""
        return text.partition("~")[0]

    @staticmethod
    def wiki_of(text: str) -> str:
        """The wiki's part of it; empty for nonsense."""
        return text.rpartition("~")[2]

    @staticmethod
    def event_of(text: str) -> int | None:
        """The newest event that a page has seen; None for nonsense."""
        first = text.partition(".")[0]
        known = first.isascii() and first.isdigit() and len(first) <= MOST_DIGITS
        return int(first) if known else None


def campaign_version(campaign: Campaign, heartbeat: WorkerHeartbeat | None) -> Version:
    """A few small queries: the newest event, evaluations by state, the newest look and decision."""
    event = campaign.events.aggregate(last=Max("pk"))["last"] or 0
    evaluations = Evaluation.objects.filter(candidate__round__campaign=campaign).aggregate(
        all=Count("pk"), last=Max("finished_at"), started=Max("started_at")
    )
    looked = campaign.device_waits.aggregate(last=Max("looked_at"))["last"]
    marks = [evaluations["last"], evaluations["started"], looked]
    parts = [
        str(event),
        campaign.state,
        f"{int(campaign.pause_requested)}{int(campaign.stop_requested)}",
        str(evaluations["all"]),
        *(f"{mark:%H%M%S%f}" if mark else "0" for mark in marks),
    ]
    changes = SpecChange.objects.filter(spec__platform=campaign.platform_id)
    wiki = changes.aggregate(last=Max("pk"))["last"] or 0
    return Version(".".join(parts), _beat(heartbeat), str(wiki), event)


def overview_version(now: datetime) -> str:
    """The same for all campaigns together, as the home page needs it."""
    running = Evaluation.objects.filter(state=EvaluationState.RUNNING, heartbeat_at__isnull=False)
    last = Subquery(running.order_by("-heartbeat_at").values("heartbeat_at")[:1])
    event, beat = Event.objects.order_by("-pk").values_list("pk", last).first() or (0, None)
    silent_s = (now - beat).total_seconds() if beat else None
    # A campaign that ends or begins is an event.
    return f"{event}.{_beat(WorkerHeartbeat(silent_s, True)) if beat else 0}"


def _beat(heartbeat: WorkerHeartbeat | None) -> str:
    if heartbeat is None or heartbeat.silent_s is None:
        return "none"
    # Each heartbeat sets the seconds back to 0; without one they grow in steps.
    return f"{int(heartbeat.measuring)}{int(heartbeat.silent_s // SILENCE_STEP_S)}"
