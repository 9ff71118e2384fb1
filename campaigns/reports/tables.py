"""Rounds and campaigns as pandas tables, which every CSV is written from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from campaigns.models import Campaign
from campaigns.records.sweeps import FACTS, ScreenedPoint, SweepRecord
from campaigns.records.values import gain_value
from campaigns.reports.rows import Headline, RoundRow
from campaigns.reports.totals import Trend

if TYPE_CHECKING:
    from pandas import DataFrame


def rounds_table(rows: Iterable[RoundRow]) -> DataFrame:
    """A row a round, with the times of both arms as its own session measured them."""
    return _table(
        {
            "round": row.number,
            "title": row.round.title,
            "proposed_by": row.proposed_by.words,
            "verdict": row.word.value,
            "reason": row.reason,
            "against_round": row.against,
            **gain_value(row.gain if row.number > 1 else None),
            "candidate_us": row.time_us,
            "incumbent_us": row.incumbent_us,
            "share": row.share,
            "share_of": row.target.roof_words if row.share else None,
            "candidates": row.candidates,
            "took_s": row.duration_s,
        }
        for row in rows
    )


def trend_table(trend: Trend) -> DataFrame:
    """A row a timed round; rates in the trend's unit."""
    return _table(
        {
            "round": one.row.number,
            "verdict": one.row.word.value,
            "unit": trend.unit,
            "forward": one.forward.mean if one.forward else None,
            "backward": one.backward.mean if one.backward else None,
            "step": one.step.mean if one.step else None,
            "against_round": one.row.against,
            **gain_value(one.gain),
        }
        for one in trend.rows
    )


def sweep_table(
    record: SweepRecord,
    points: Iterable[ScreenedPoint],
    reasons: Mapping[int, str],
    times_us: Mapping[int, Mapping[str, float]],
) -> DataFrame:
    """A row a point: knobs as `knob.NAME`, the screen's time of each case as `time_us.CASE`."""
    cases = sorted({case for times in times_us.values() for case in times})
    return _table(
        {
            "number": point.number,
            **{f"knob.{knob.name}": point.params.get(knob.name) for knob in record.knobs},
            "outcome": point.outcome,
            "reason": reasons.get(point.number),
            "time_us": point.time_us,
            "ended_early": point.ended_early,
            **{f"time_us.{case}": times_us.get(point.number, {}).get(case) for case in cases},
            **{name: point.facts.get(name) for name in FACTS},
            "build_s": point.build_s,
            "screen_s": point.screen_s,
            "candidate": point.candidate,
        }
        for point in points
    )


def campaigns_table(lines: Iterable[tuple[Campaign, Headline, int]]) -> DataFrame:
    """A row a campaign, from (campaign, its headline, number of rounds)."""
    return _table(
        {
            "campaign": campaign.pk,
            "title": campaign.title,
            "operator": campaign.problem.op,
            "backend": campaign.backend,
            "platform": campaign.platform.slug,
            "state": campaign.state,
            "best_round": line.best.number if line.best else None,
            "candidate_us": line.shown.time_us,
            "incumbent_us": line.shown.incumbent_us,
            "session": "final" if line.final else "own",
            "share": line.share,
            "share_of": line.target.roof_words if line.share else None,
            "rounds": rounds,
        }
        for campaign, line, rounds in lines
    )


def _table(rows: Iterable[dict[str, Any]]) -> DataFrame:
    # Only here: pandas takes a second to load, which no command should wait for.
    from pandas import DataFrame

    return DataFrame(list(rows))
