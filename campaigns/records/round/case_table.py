"""One row per case: times with their spread, errors, gain. What pages and commands print."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from campaigns.evaluator.contract import CaseReport, Timing
from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.gates import decisive_samples

CONFIDENCE = 0.95


def spread(samples_us: Sequence[float]) -> dict[str, float | int]:
    """Median with its distribution-free 95 % interval (order statistics), in microseconds.

    Under six samples no such interval exists; low and high are then the extremes.
    """
    ordered = sorted(samples_us)
    n = len(ordered)
    outside = _ranks_outside(n)
    return {
        "median": statistics.median(ordered),
        "low": ordered[outside],
        "high": ordered[n - 1 - outside],
        "n": n,
    }


def case_row(case: CaseReport, gain: Gain | None = None) -> dict[str, Any]:
    """One case of a report as plain values; times that were not taken are None."""
    return {
        "case": case.case,
        "correct": case.correct,
        "checked_calls": case.checked_calls,
        "max_abs_error": case.max_abs_error,
        "max_rel_error": case.max_rel_error,
        "margin": case.margin,
        "message": case.message,
        "time_us": _timed(case, case.candidate),
        "incumbent_us": _timed(case, case.incumbent),
        "timer": case.candidate.timer.value if case.candidate else None,
        "device_us": case.candidate.device_us if case.candidate else None,
        "copied": _copied(case.candidate),
        "incumbent_copied": _copied(case.incumbent),
        "gain": gain.gain if gain else None,
        "gain_low": gain.low if gain else None,
        "gain_high": gain.high if gain else None,
    }


def case_rows(cases: Sequence[CaseReport], gains: Mapping[str, Gain]) -> list[dict[str, Any]]:
    """All cases of a report with their gains."""
    return [case_row(case, gains.get(case.case)) for case in cases]


def class_rows(gains: Mapping[str, Gain], classes: Mapping[str, str]) -> list[dict[str, Any]]:
    """All config classes with their cases and gains. classes: case → class."""
    return [
        {
            "class": name,
            "cases": [case for case, own in classes.items() if own == name],
            "gain": gain.gain,
            "gain_low": gain.low,
            "gain_high": gain.high,
            "pairs": gain.pairs,
        }
        for name, gain in gains.items()
    ]


def _timed(case: CaseReport, timing: Timing | None) -> dict[str, float | int] | None:
    return spread(decisive_samples(case, timing)) if timing and timing.samples_us else None


def _copied(timing: Timing | None) -> list[dict[str, str | int]]:
    return [asdict(one) for one in timing.copied] if timing else []


def _ranks_outside(n: int) -> int:
    """How many of n ordered samples may be left off at each end at 95 % confidence."""
    tail, outside = 0.0, 0
    for k in range(n // 2):
        tail += math.comb(n, k) / 2**n
        if 2 * tail > 1 - CONFIDENCE:
            break
        outside = k
    return outside
