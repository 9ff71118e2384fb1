"""Seal a judged round: keep or roll back, then go on or stop."""

from __future__ import annotations

import statistics
from typing import Any

from django.db import transaction
from django.utils import timezone

from campaigns.models import (
    AbortReason,
    Campaign,
    CampaignState,
    Candidate,
    Round,
    RoundKind,
    RoundState,
)
from campaigns.models.event import record
from campaigns.models.transitions import move
from campaigns.records.restart_mask import restart_of, restarted_after
from campaigns.records.time_spent import time_spent
from campaigns.rules.noise.means import geomean
from campaigns.rules.stop.policy import History, StopPolicy, count_streaks, should_stop
from campaigns.rules.target.goal import Kind, Reached, goal_from, measured_by
from campaigns.rules.target.roofline import Work, share_of_floor
from campaigns.rules.verdict.decision import Verdict
from campaigns.rules.verdict.gates import decisive_samples
from campaigns.steps.lifecycle.end_search import stopping
from campaigns.steps.rounds.climb import Climb, climb, decisions_of, verdicts_of
from campaigns.steps.rounds.commit_accepted import commit_accepted
from campaigns.steps.rounds.judge import deciding_report
from campaigns.workers.notify import AGAIN, NOTHING, Next


def close_round(round_: Round) -> Next:
    """Close the round in one transaction: incumbent, state of the campaign, stop reason."""
    campaign, verdict = round_.campaign, round_.verdict
    accepted = verdict.word == Verdict.ACCEPTED
    if accepted:
        campaign.incumbent = round_.chosen
    ending, climbed = _ending(campaign, round_)
    with transaction.atomic():
        # The campaign is claimed first: a pause that came in between leaves the round to later.
        if not move(campaign, ending.pop("state"), incumbent=campaign.incumbent, **ending):
            return NOTHING
        if not move(round_, RoundState.CLOSED, closed_at=timezone.now()):
            transaction.set_rollback(True)
            return NOTHING
        kept = "kept; it is the incumbent now" if accepted else "rolled back to the incumbent"
        record(campaign, "round_closed", f"round {round_.number}: {kept}", round=round_)
        if climbed is None:
            record(campaign, "ended", ending["stop_sentence"], reason=ending["stop_reason"])
        elif climbed.rung is not None:
            record(campaign, "ladder", climbed.words, rung=climbed.rung)
    # Only a closed round can not change any more, so that the same commit can be made again.
    if accepted:
        commit_accepted(campaign)
    return NOTHING if campaign.is_finished else AGAIN


def _ending(campaign: Campaign, round_: Round) -> tuple[dict[str, Any], Climb | None]:
    """The campaign's next state, and where the search ends also why (law 10).

    Where it goes on, a round without a gain is a step up the ladder (R48); None where it ends.
    """
    if round_.kind == RoundKind.BASELINE and campaign.incumbent is None:
        return {
            "state": CampaignState.ABORTED,
            "stop_reason": AbortReason.BASELINE_FAILED,
            "stop_sentence": f"Baseline: {round_.verdict.sentence}",
            "finished_at": timezone.now(),
        }, None
    stop = should_stop(StopPolicy(**campaign.stop_policy), history_of(campaign))
    if stop:
        return stopping(stop), None
    climbed = climb(campaign)
    return {"state": climbed.state}, climbed


def history_of(campaign: Campaign, *, answered: bool = False, taken: bool = False) -> History:
    """Where it stands. answered, taken: as if its restart were answered so at this moment."""
    decisions = decisions_of(verdicts_of(campaign))
    restart = restart_of(campaign)
    streaks = count_streaks(decisions, len(decisions) if taken else restarted_after(restart))
    spent = time_spent(campaign, timezone.now())
    return History(
        rounds=len(decisions),
        accepts=streaks.accepts,
        consecutive_regressions=streaks.consecutive_regressions,
        consecutive_non_accepts=streaks.consecutive_non_accepts,
        share_of_floor=_share(campaign.incumbent, campaign.target),
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
    if goal.kind is Kind.CEILING or incumbent is None or v0 is None:
        return None
    target = goal.target(geomean(_times(v0).values()))
    works = {
        name: Work(flops=case["flops"], bytes=case["bytes"])
        for name, case in campaign.target.get("cases", {}).items()
    }
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


def _share(incumbent: Candidate | None, target: dict[str, Any]) -> float | None:
    """The incumbent's share of the floor over all cases; None where the target is UNKNOWN."""
    report = deciding_report(incumbent) if incumbent else None
    if report is None:
        return None
    pairs = []
    for case in report.cases:
        floor_us = target.get("cases", {}).get(case.case, {}).get("floor_us")
        if floor_us is None or case.candidate is None:
            return None
        pairs.append((floor_us, statistics.median(decisive_samples(case, case.candidate))))
    return share_of_floor(pairs)
