"""A campaign's history as the stop rules read it, and its restart in part (R40, R49)."""

from __future__ import annotations

from django.utils import timezone

from campaigns.models import Campaign, Restart, RestartAnswer, Unmasking
from campaigns.records.campaigns import goal_of, share_of, target_of
from campaigns.records.time_spent import time_spent
from campaigns.records.verdicts import decisions_of, measured_of, verdicts_of
from campaigns.rules.stop.policy import History, count_streaks
from campaigns.rules.target.goal import GoalKind, Reached, measured_by


def restart_of(campaign: Campaign) -> Restart | None:
    """The campaign's restart as it was answered; None before. One query."""
    return Restart.objects.filter(campaign=campaign).first()


def restarted_after(restart: Restart | None) -> int:
    """How many rounds had been closed when the restart was taken; 0 where none was."""
    return restart.after if restart and restart.answer == RestartAnswer.TAKEN else 0


def masked_rounds(campaign: Campaign) -> frozenset[int]:
    """The numbers of the rounds that are hidden; at most two queries."""
    return masked_by(restart_of(campaign))


def masked_by(restart: Restart | None) -> frozenset[int]:
    """The rounds that this restart hides and no person has shown again; at most one query."""
    if restart is None or not restart.masked:
        return frozenset()
    seen = Unmasking.objects.filter(campaign=restart.campaign_id)
    return frozenset(restart.masked) - {one.number for one in seen}


def history_of(campaign: Campaign, *, answered: bool = False, taken: bool = False) -> History:
    """The history now. answered, taken: as if its restart were answered this way now."""
    verdicts = verdicts_of(campaign)
    decisions, known = decisions_of(verdicts), {one.round_id: one for one in verdicts}
    # Each by what its own deciding session measured.
    v0 = measured_of(next(iter(verdicts), None))
    incumbent = campaign.incumbent
    best = measured_of(known.get(incumbent.round_id) if incumbent else None).times
    restart = restart_of(campaign)
    streaks = count_streaks(decisions, len(decisions) if taken else restarted_after(restart))
    spent = time_spent(campaign, timezone.now())
    # The incumbent against a target that is no share of the ceilings.
    goal, ceilings, reached = goal_of(campaign), target_of(campaign), None
    if goal.kind is not GoalKind.CEILING and v0.time_us and best:
        works = {name: case.work for name, case in ceilings.cases.items()}
        target = goal.target(v0.time_us)
        measured = measured_by(goal.metric, best, works)
        if target is not None and measured is not None:
            reached = Reached(target, measured)
    return History(
        rounds=len(decisions),
        accepts=streaks.accepts,
        consecutive_regressions=streaks.consecutive_regressions,
        consecutive_non_accepts=streaks.consecutive_non_accepts,
        share_of_floor=share_of(best, ceilings),
        roof=ceilings.roof_words,
        reached=reached,
        user_stopped=campaign.stop_requested,
        wall_h=spent.wall_h,
        device_h=spent.device_h,
        restart_settled=answered or restart is not None,
    )
