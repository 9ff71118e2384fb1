"""The phase of a campaign: since when, what it waits for and how long it may take (R59)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from django.db.models import Count, Q

from campaigns.models import Campaign, CampaignState, EvaluationState
from campaigns.records.time_spent import if_present
from campaigns.rules.stop.phases import LIMITS, MEASURING
from campaigns.rules.wording import minutes

LEAST_ROUNDS = 3
RECENT = 5
_MINUTE, _HOUR = 60.0, 3600.0


@dataclass(frozen=True, slots=True)
class Eta:
    """The time left in seconds, from the 20th and the 80th percentile of recent rounds.

    is_capped: a budget of time ends it before that many rounds would.
    """

    low_s: float
    high_s: float
    rounds: int
    is_capped: bool = False

    @property
    def span(self) -> str:
        """For a place that says already that it is the time left."""
        if self.high_s < 1:
            return "a moment"
        low, high = spoken(self.low_s), spoken(self.high_s)
        return f"about {low}" if low == high else f"about {low} to {high}"

    @property
    def words(self) -> str:
        return f"{self.span} left"


def estimate(
    durations_s: Sequence[float], rounds_left: int, most_s: float = math.inf
) -> Eta | None:
    """Estimate from the durations of the closed rounds, oldest first; None under 3 rounds.

    most_s: what is left of a budget of time, which no estimate goes beyond.
    """
    if len(durations_s) < LEAST_ROUNDS:
        return None
    recent = sorted(durations_s[-RECENT:])
    last = len(recent) - 1
    low, high = recent[round(0.2 * last)], recent[round(0.8 * last)]
    low_s, high_s = low * rounds_left, high * rounds_left
    capped = high_s > most_s
    return Eta(min(low_s, most_s), min(high_s, most_s), len(recent), capped)


def spoken(seconds: float) -> str:
    """Write a duration as people say it: "40 s", "3 min", "1 h 10"."""
    if seconds < 10:
        return f"{seconds:.1f} s" if seconds < 1 else f"{seconds:.0f} s"
    if seconds < 100:
        return f"{round(seconds, -1 if seconds > 20 else 0):.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    hours, rest = divmod(round(seconds / _MINUTE), 60)
    return f"{hours} h {rest:02d}"


OWN_STEP = "processing results"
# State → what people are to do; how long they take is not told by earlier phases.
WAITS_FOR_PEOPLE: dict[str, str] = {
    CampaignState.PAUSED: "a person to resume it",
    CampaignState.RESTART: "an answer to the offered restart",
    CampaignState.AWAITING: "a candidate to be handed in",
}


@dataclass(frozen=True, slots=True)
class Progress:
    """The present phase. since: None where it is not known. eta: of the phase alone.

    earlier: how many finished phases of this kind the estimate may rest on.
    """

    state: str
    since: datetime | None
    age_s: float
    waits_for: str
    eta: Eta | None
    earlier: int

    @property
    def age(self) -> str:
        return spoken(self.age_s)

    @property
    def doing(self) -> str:
        """What is waited for, or that kopt is at work itself."""
        return self.waits_for if self.waits_for == OWN_STEP else f"waiting for {self.waits_for}"

    @property
    def limit_words(self) -> str:
        """Its limits, in minutes; empty where it has none."""
        limit = LIMITS.get(self.state)
        if limit is None:
            return ""
        of_what = " of measuring" if self.state in MEASURING else ""
        return (
            f"a warning after {minutes(limit.idle_s)} min without a sign of life; "
            f"at most {minutes(limit.wall_s)} min{of_what}"
        )

    @property
    def eta_words(self) -> str:
        """How long the phase may still take, with its basis."""
        if self.state in WAITS_FOR_PEOPLE:
            return "it depends on people"
        if self.eta is None and self.earlier < LEAST_ROUNDS:
            return f"too early to say ({self.earlier} of {LEAST_ROUNDS} such phases done)"
        if self.eta is None:
            return "not known: it has taken longer than the last such phases"
        return f"{self.eta.words} in it (from the last {self.eta.rounds} such phases)"

    @property
    def stored(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "state": self.state,
            "since": self.since.isoformat() if self.since else None,
            "waits_for": self.waits_for,
            "left_low_s": self.eta.low_s if self.eta else None,
            "left_high_s": self.eta.high_s if self.eta else None,
            "basis": self.eta_words,
            "limit": self.limit_words,
        }


def progress_of(campaign: Campaign, now: datetime) -> Progress | None:
    """None for a campaign that is finished or was never at work; two queries."""
    if campaign.is_finished or campaign.state == CampaignState.DRAFT:
        return None
    rows = list(campaign.phases.order_by("pk"))
    present = if_present(rows[-1] if rows else None, campaign)
    # Of each finished phase in this state, oldest first; one that was paused does not count.
    earlier = [
        (after.at - before.at).total_seconds()
        for before, after in pairwise(rows)
        if before.state == campaign.state and after.state != CampaignState.PAUSED
    ]
    age = max((now - present.at).total_seconds(), 0.0) if present else 0.0
    left = estimate([max(0.0, took - age) for took in earlier], 1)
    held = campaign.state in WAITS_FOR_PEOPLE
    return Progress(
        state=campaign.state,
        since=present.at if present else None,
        age_s=age,
        waits_for=_waits_for(campaign),
        eta=None if held or (left and left.high_s == 0) else left,
        earlier=len(earlier),
    )


def _waits_for(campaign: Campaign) -> str:
    if campaign.state in WAITS_FOR_PEOPLE:
        return WAITS_FOR_PEOPLE[campaign.state]
    if campaign.state == CampaignState.CONFIRMED:
        return "a worker"
    if campaign.state not in MEASURING:
        return OWN_STEP
    if campaign.state == CampaignState.REPORT:
        return "the last comparison with v0"
    done = Q(candidates__evaluations__state=EvaluationState.DONE)
    rounds = campaign.rounds.order_by("number").annotate(
        all=Count("candidates__evaluations"), done=Count("candidates__evaluations", filter=done)
    )
    found = rounds.last()
    if found is None or found.all == found.done:
        return OWN_STEP
    return f"measurement {found.done + 1} of {found.all} of round {found.number} so far"
