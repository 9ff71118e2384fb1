"""What the figures of a campaign are drawn from: its sheet and its records, as their charts ask."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from campaigns.charts.case_heat import HeatGain, HeatRound
from campaigns.charts.kernel_parts import PartsRound
from campaigns.charts.phase_times import PhaseTime
from campaigns.charts.roof_share import SharePoint
from campaigns.evaluator.contract import Timing
from campaigns.models import Evaluation
from campaigns.records.evaluations import report_of
from campaigns.records.time_spent import PhaseSpent
from campaigns.reports.sheet import CampaignSheet

Link = Callable[[int], str]
HOUR = timedelta(hours=1)
# Reports hold every sample, so of long campaigns only so many are opened.
MOST_REPORTS = 24
ALL_KERNELS, OTHER_KERNELS, FILLS = "all kernels", "other kernels", "memory fills"


def shares(sheet: CampaignSheet, link: Link, *, by_time: bool) -> list[SharePoint]:
    """Each round with a share of the roof, at its number or at hours since the campaign began."""
    begun = sheet.campaign.created_at
    return [
        SharePoint(
            row.number,
            row.word,
            link(row.number),
            (row.round.opened_at - begun) / HOUR if by_time else row.number,
            row.share,
        )
        for row in sheet.rows
        if row.share
    ]


def gains_by_case(sheet: CampaignSheet, link: Link) -> list[HeatRound]:
    """Each round after the baseline with the proven gain over its incumbent on every case."""
    return [
        HeatRound(
            row.number,
            row.word,
            link(row.number),
            {
                one.case: HeatGain(
                    gain.gain,
                    f"{gain.brief} against round {row.against}",
                    not gain.low <= 0 <= gain.high,
                )
                for one in row.measured.cases
                if (gain := one.gain)
            },
        )
        for row in sheet.rows
        if row.number > 1
    ]


def parts_of(sheet: CampaignSheet, link: Link, case: str) -> list[PartsRound]:
    """Device time by kernel of the accepted rounds and the newest others; one query."""
    judged = [row for row in sheet.rows if row.verdict and row.verdict.evaluation_id]
    kept = [row for row in judged if row.is_kept]
    others = [row for row in judged if not row.is_kept]
    wanted = {row.number for row in (kept + others)[:MOST_REPORTS]}
    rows = [row for row in judged if row.number in wanted]
    keys = [row.verdict.evaluation_id for row in rows if row.verdict]
    known = Evaluation.objects.in_bulk(keys)
    found = []
    for row, key in zip(rows, keys, strict=True):
        report = report_of(known[key])
        cases = {one.case: one for one in report.cases} if report else {}
        timing = cases[case].candidate if case in cases else None
        parts = _parts(timing) if timing else {}
        found.append(PartsRound(row.number, row.word, link(row.number), parts))
    return found


def _parts(timing: Timing) -> dict[str, float]:
    """Name → µs per call; empty where no tracer told any."""
    if timing.traced is None:
        return {ALL_KERNELS: timing.device_us} if timing.device_us else {}
    traced = timing.traced
    parts = {own.name: own.device_us for own in traced.own}
    parts |= {OTHER_KERNELS: traced.other_us - traced.filling_us, FILLS: traced.filling_us}
    return {name: time_us for name, time_us in parts.items() if time_us > 0}


def phases_of(spent: tuple[PhaseSpent, ...]) -> list[PhaseTime]:
    """Every phase that took time."""
    return [
        PhaseTime(str(one.state), one.entered, one.wall_s, one.device_s, one.void_s)
        for one in spent
        if one.wall_s or one.device_s
    ]
