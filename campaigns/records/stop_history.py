"""The history of a campaign that the stop rules read (R49)."""

from __future__ import annotations

import statistics

from django.utils import timezone

from campaigns.models import (
    Campaign,
    Candidate,
)
from campaigns.records.restart_mask import restart_of, restarted_after
from campaigns.records.round.decisions import decisions_of, verdicts_of
from campaigns.records.round.sessions import deciding_report
from campaigns.records.target.targets import CampaignTarget, target_of
from campaigns.records.time_spent import time_spent
from campaigns.rules.noise.means import geomean
from campaigns.rules.stop.policy import History, count_streaks
from campaigns.rules.target.goal import GoalKind, Reached, goal_from, measured_by
from campaigns.rules.target.roofline import Work, share_of_floor
from campaigns.rules.verdict.gates import decisive_samples


def history_of(campaign: Campaign, *, answered: bool = False, taken: bool = False) -> History:
    """The history now. answered, taken: as if its restart were answered this way now."""
    decisions = decisions_of(verdicts_of(campaign))
    restart = restart_of(campaign)
    streaks = count_streaks(decisions, len(decisions) if taken else restarted_after(restart))
    spent = time_spent(campaign, timezone.now())
    return History(
        rounds=len(decisions),
        accepts=streaks.accepts,
        consecutive_regressions=streaks.consecutive_regressions,
        consecutive_non_accepts=streaks.consecutive_non_accepts,
        share_of_floor=_share(campaign.incumbent, target_of(campaign)),
        reached=_reached(campaign),
        user_stopped=campaign.stop_requested,
        wall_h=spent.wall_h,
        device_h=spent.device_h,
        restart_settled=answered or restart is not None,
    )


def _reached(campaign: Campaign) -> Reached | None:
    """The incumbent against a target that is no share of the ceilings; None without one."""
    goal = goal_from(campaign.goal)
    incumbent, v0 = campaign.incumbent, _v0(campaign)
    if goal.kind is GoalKind.CEILING or incumbent is None or v0 is None:
        return None
    target = goal.target(geomean(_times(v0).values()))
    cases = target_of(campaign).cases
    works = {name: Work(flops=case.flops, bytes=case.bytes) for name, case in cases.items()}
    measured = measured_by(goal.metric, _times(incumbent), works)
    return Reached(target, measured) if target is not None and measured is not None else None


def _v0(campaign: Campaign) -> Candidate | None:
    return Candidate.objects.filter(round__campaign=campaign, round__number=1).first()


def _times(candidate: Candidate) -> dict[str, float]:
    """Case → median time in µs, of the sessions that decided about the candidate."""
    report = deciding_report(candidate)
    return {
        case.case: statistics.median(decisive_samples(case, case.candidate))
        for case in (report.cases if report else ())
        if case.candidate
    }


def _share(incumbent: Candidate | None, target: CampaignTarget) -> float | None:
    """The incumbent's share of the floor over all cases; None where the target is UNKNOWN."""
    report = deciding_report(incumbent) if incumbent else None
    if report is None:
        return None
    pairs = []
    for case in report.cases:
        placed = target.cases.get(case.case)
        if placed is None or placed.floor_us is None or case.candidate is None:
            return None
        pairs.append((placed.floor_us, statistics.median(decisive_samples(case, case.candidate))))
    return share_of_floor(pairs)
