"""Attempts, lessons and questions as plain values: what every door answers and every file holds."""

from __future__ import annotations

from typing import Any

from knowledge.models import EntryStanding, Experience, Gap, Lesson


def entry_record(entry: Experience) -> dict[str, Any]:
    """One attempt, all of it; select `track` and `merged_into` with it."""
    track = entry.track
    merged = entry.merged_into if entry.standing == EntryStanding.MERGED else None
    return {
        "uuid": str(entry.uuid),
        "standing": entry.standing,
        "merged_into": str(merged.uuid) if merged else None,
        "origin": entry.origin,
        "label": entry.label,
        "strategy": track.strategy,
        "strategy_name": entry.strategy_name,
        "op": track.op,
        "dtype": track.dtype,
        "backend": track.backend,
        "platform": track.platform,
        "arch": track.arch,
        "bottleneck": track.bottleneck,
        "shape_class": track.shape_class,
        "shapes": entry.shapes,
        "params": entry.params,
        "title": entry.title,
        "change": entry.change,
        "evidence": entry.evidence,
        "precondition": entry.precondition,
        "problem": entry.problem,
        "proposer": entry.proposer,
        "verdict": entry.verdict,
        "reason": entry.reason,
        "gain": entry.gain,
        "gain_low": entry.gain_low,
        "gain_high": entry.gain_high,
        "pairs": entry.pairs,
        "baseline": entry.baseline,
        "expected_gain": entry.expected_gain,
        "borne": entry.borne,
        "compiler": entry.compiler,
        "driver": entry.driver,
        "metrics": entry.metrics,
        "notes": entry.notes,
        "external": entry.external,
        "campaign": entry.campaign,
        "round": entry.round,
        "happened_at": entry.happened_at.isoformat(),
    }


def lesson_record(lesson: Lesson) -> dict[str, Any]:
    """One lesson; prefetch `evidence__entry` with it."""
    return {
        "uuid": str(lesson.uuid),
        "state": lesson.state,
        "avoid": lesson.avoid,
        **{name: getattr(lesson, name) for name in SCOPE},
        **{name: getattr(lesson, name) for name in TEXTS},
        "evidence": {str(each.entry.uuid): each.agrees for each in lesson.evidence.all()},
    }


def gap_record(gap: Gap) -> dict[str, Any]:
    """One open question."""
    return {
        "uuid": str(gap.uuid),
        "state": gap.state,
        "question": gap.question,
        "query": gap.query,
        "why": gap.why,
        **{name: getattr(gap, name) for name in SCOPE},
    }


TEXTS = ("context", "signal", "takeaway", "applicability")
SCOPE = ("op", "dtype", "backend", "platform", "arch", "strategy")
