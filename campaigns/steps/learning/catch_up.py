"""Learn the closed rounds that no entry is about: from before, or after a crash."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q, QuerySet

from campaigns.models import Round, RoundState
from campaigns.models.kinds import ATTEMPTS
from campaigns.rules.verdict.expectation import SILENT, WRONG
from campaigns.steps.rounds.learn import try_to_learn
from knowledge.models import Experience

# Of one check of a worker, which runs a few times a minute and has other work to do.
AT_ONCE = 20


def catch_up(most: int | None = AT_ONCE) -> int:
    """Learn at most so many rounds, the oldest first; how many are learned. None: all of them."""
    return sum(try_to_learn(round_) for round_ in untaught()[:most])


def untaught() -> QuerySet[Round]:
    """Closed rounds that teach something and have no entry."""
    known = Experience.objects.filter(campaign=OuterRef("campaign_id"), round=OuterRef("number"))
    teaches = Q(verdict__reason__in=WRONG) | Q(verdict__gain__isnull=False)
    closed = Round.objects.filter(teaches, ~Exists(known), state=RoundState.CLOSED)
    attempts = closed.filter(kind__in=ATTEMPTS).exclude(verdict__reason__in=SILENT)
    return attempts.select_related("campaign__problem", "campaign__platform", "verdict").order_by(
        "closed_at"
    )
