"""Rounds and campaigns as pandas tables, which every CSV is written from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from campaigns.records.sweeps import FACTS, ScreenedPoint, SweepRecord
from campaigns.reports.rows import RoundRow
from campaigns.reports.totals import Trend
from campaigns.rules.noise.gain import Gain

if TYPE_CHECKING:
    from pandas import DataFrame

GAIN = ("gain", "low", "high", "pairs", "kind")


def rounds_table(rows: Iterable[RoundRow]) -> DataFrame:
    """A row a round. time_us, share: by paired gains; unpaired_median_us: of its own session."""
    return _table(
        {
            "round": row.number,
            "title": row.round.title,
            "proposed_by": row.proposed_by.words,
            "verdict": row.word.value,
            "reason": row.reason,
            "against_round": row.against,
            **_gain(row.gain if row.number > 1 else None),
            "time_us": row.time_us,
            "share_of_roof": row.share,
            "unpaired_median_us": row.median_us,
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
            "against_baseline": one.change,
            "pairs": one.n,
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


def campaigns_table(lines: Iterable[tuple[Any, RoundRow | None, int]]) -> DataFrame:
    """A row a campaign, from (campaign, incumbent's row, number of rounds)."""
    return _table(
        {
            "campaign": campaign.pk,
            "title": campaign.title,
            "operator": campaign.problem.op,
            "backend": campaign.backend,
            "platform": campaign.platform.slug,
            "state": campaign.state,
            "best_round": best.number if best else None,
            "best_us": best.time_us if best else None,
            "share_of_roof": best.share if best else None,
            "rounds": rounds,
        }
        for campaign, best, rounds in lines
    )


def _table(rows: Iterable[dict[str, Any]]) -> DataFrame:
    # Only here: pandas takes a second to load, which no command should wait for.
    from pandas import DataFrame

    return DataFrame(list(rows))


def _gain(gain: Gain | None) -> dict[str, Any]:
    found = asdict(gain) if gain else {}
    return {name: found.get(name) for name in GAIN}
