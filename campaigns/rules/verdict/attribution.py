"""Where a gain comes from: the kernel, its dispatch, the caches, or none of these.

The time of a single call with cold caches, as a user sees it, is split the same way for both arms;
the time that a part saves from the incumbent to the candidate is that part's gain. Times beside the
samples are medians of a few bursts or the tracer's: they explain, and never decide.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, fields, replace
from typing import Any

from campaigns.evaluator.contract import CaseReport, Report, Timing


@dataclass(frozen=True, slots=True)
class Parts:
    """One call in microseconds, by part; the parts sum up to `total_us`.

    kernel_us: work with warm caches; with cold ones if `cache_us` is None, because they could not
    be separated. cache_us: added by cold caches. dispatch_us: added by a single launch; None if
    calls are only made that way. residual_us: on the judge's clock but in none of these, such as
    gaps between kernels.
    """

    total_us: float
    kernel_us: float
    cache_us: float | None
    dispatch_us: float | None
    residual_us: float


@dataclass(frozen=True, slots=True)
class Attribution:
    """Both arms of one case, and the time that the candidate saves in each part, or loses (< 0)."""

    case: str
    incumbent: Parts
    candidate: Parts
    saved: Parts

    @property
    def main(self) -> str:
        """The part that saves (or loses) the most: its field's name without the unit."""
        saved = self.saved
        parts = {
            "kernel": saved.kernel_us,
            "cache": saved.cache_us or 0.0,
            "dispatch": saved.dispatch_us or 0.0,
            "residual": saved.residual_us,
        }
        return max(parts, key=lambda name: parts[name] * (1 if saved.total_us >= 0 else -1))


def attributions_of(report: Report | None) -> tuple[Attribution, ...]:
    """The attribution of every case with both arms timed."""
    found = (attribute(case) for case in (report.cases if report else ()))
    return tuple(attribution for attribution in found if attribution is not None)


def attribute(case: CaseReport) -> Attribution | None:
    """Assign the gain of one case; None unless both arms were timed."""
    old, new = case.incumbent, case.candidate
    if old is None or new is None or not old.samples_us or not new.samples_us:
        return None
    # A part that one arm lacks cannot be compared, so it is not split off in the other arm either.
    lacking: dict[str, Any] = {
        name: None
        for name in ("warm_us", "eager_us", "device_us")
        if getattr(old, name) is None or getattr(new, name) is None
    }
    before, after = (_parts(replace(arm, **lacking)) for arm in (old, new))
    saved: dict[str, Any] = {}
    for part in fields(Parts):
        one, other = getattr(before, part.name), getattr(after, part.name)
        saved[part.name] = None if one is None or other is None else one - other
    return Attribution(case.case, before, after, Parts(**saved))


def _parts(arm: Timing) -> Parts:
    sample_us = statistics.median(arm.samples_us)
    cache_us = None if arm.warm_us is None else sample_us - arm.warm_us
    dispatch_us = None if arm.eager_us is None else arm.eager_us - sample_us
    inside_us = sample_us if arm.device_us is None else arm.device_us
    return Parts(
        total_us=sample_us + (dispatch_us or 0.0),
        kernel_us=inside_us - (cache_us or 0.0),
        cache_us=cache_us,
        dispatch_us=dispatch_us,
        residual_us=sample_us - inside_us,
    )
