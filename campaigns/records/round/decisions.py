"""What a campaign's closed rounds decided, in their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from campaigns.models import Campaign, Verdict
from campaigns.rules.stop.policy import count_streaks
from campaigns.rules.verdict.decision import UNJUDGED, Reason
from campaigns.rules.verdict.decision import VerdictWord as Word


def verdicts_of(campaign: Campaign) -> Sequence[Verdict]:
    """In the order of the rounds."""
    rows = Verdict.objects.filter(round__campaign=campaign).select_related("round__against__round")
    rows = rows.defer("round__against__text")  # the sources would be most of what is read
    return list(rows.order_by("round__number"))


def decisions_of(verdicts: Iterable[Verdict]) -> list[tuple[Word, Reason]]:
    """What was decided and why, as the rules count it."""
    return [(Word(v.word), Reason(v.reason)) for v in verdicts]


def streak_of(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The last rounds in a row that were attempts and not accepted; broken hosts left out."""
    attempts = [v for v in verdicts if v.reason not in UNJUDGED]
    count = count_streaks(decisions_of(attempts)).consecutive_non_accepts
    return attempts[len(attempts) - count :]
