"""When a campaign stops: each limit and how far it is used up, as pages and report show it."""

from __future__ import annotations

from datetime import datetime

from campaigns.records.campaigns import stop_policy_of
from campaigns.records.stop_history import restart_of, restarted_after
from campaigns.records.time_spent import time_spent
from campaigns.reports.campaign.sheet import CampaignSheet
from campaigns.rules.stop.policy import Counter, History, count_streaks, counters
from campaigns.rules.verdict.decision import Reason


def limits_of(sheet: CampaignSheet, now: datetime) -> tuple[Counter, ...]:
    """The counters by which the next round would be the last; empty without a policy."""
    campaign = sheet.campaign
    if not campaign.stop_policy:
        return ()
    judged = [row for row in sheet.rows if hasattr(row.round, "verdict")]
    restart = restart_of(campaign)
    streaks = count_streaks(
        ((row.word, Reason(row.round.verdict.reason)) for row in judged),
        restarted_after(restart),
    )
    spent = time_spent(campaign, now)
    history = History(
        rounds=len(judged),
        consecutive_regressions=streaks.consecutive_regressions,
        consecutive_non_accepts=streaks.consecutive_non_accepts,
        wall_h=spent.wall_h,
        device_h=spent.device_h,
        restart_settled=restart is not None,
    )
    return counters(stop_policy_of(campaign), history)
