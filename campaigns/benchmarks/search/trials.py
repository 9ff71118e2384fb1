"""Does a screen rank variants as a trial does? Some of what was screened is measured in full."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from statistics import median

from campaigns.benchmarks.harness import ReportTable, Row
from campaigns.benchmarks.search.searched import SearchedSpace
from campaigns.devices.launch import EvaluatorService
from campaigns.devices.sweep.search_work import TriedPoint
from campaigns.evaluator.contract import Outcome
from campaigns.rules.verdict.gates import decisive_samples
from campaigns.spaces.render import render

# Blocks of one trial: enough to rank by, and a tenth of the time of a deciding one.
BLOCKS = 2
# Fewer have no rank to speak of.
FEWEST = 3
NOTE = (
    "Variants evenly over the ranks of the screen, the fastest and the slowest among them, in an "
    "order of chance. Each is a session of the judge with both arms, the source as it is the other "
    "one; its gain is the median over pairs. Early: far behind the best, so screened only roughly."
)


def ranking(
    service: EvaluatorService,
    searched: SearchedSpace,
    screened: Sequence[TriedPoint],
    most: int,
    until: float,
) -> tuple[ReportTable, float | None]:
    """What was tried, and Spearman's rank correlation of both times; None of too few.

    screened: points with a time. until: of `time.monotonic`, when no further trial begins.
    """
    rows: list[Row] = []
    for tried in _spread(screened, most):
        if time.monotonic() >= until:
            break
        time_us = _trial_us(service, searched, tried)
        if time_us is not None:
            shown = ", ".join(f"{name} {value}" for name, value in tried.point.items())
            early = "yes" if tried.ended_early else ""
            row = {"variant": shown, "screen µs": tried.time_us, "trial µs": time_us}
            rows.append(row | {"early": early})
    whole = correlation(rows)
    exact = [row for row in rows if not row["early"]]
    told = f"Spearman {_shown(whole)} over {len(rows)} variants"
    told += f", {_shown(correlation(exact))} over the {len(exact)} that were screened to the end."
    title = f"Screen against trial: {searched.name}"
    return ReportTable(title, rows, (NOTE, told)), whole


def correlation(rows: Sequence[Row]) -> float | None:
    """Spearman's, of the screen's times and the trials'."""
    from scipy.stats import spearmanr

    if len(rows) < FEWEST:
        return None
    return float(spearmanr(*([row[key] for row in rows] for key in ("screen µs", "trial µs")))[0])


def _shown(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"


def _spread(screened: Sequence[TriedPoint], most: int) -> list[TriedPoint]:
    """Evenly over the ranks, so that whatever is begun of it is, too."""
    ranked = sorted(screened, key=lambda tried: tried.time_us or 0.0)
    if len(ranked) > most:
        step = (len(ranked) - 1) / max(1, most - 1)
        ranked = [ranked[round(at * step)] for at in range(most)]
    return Random(0).sample(ranked, len(ranked))


def _trial_us(
    service: EvaluatorService, searched: SearchedSpace, tried: TriedPoint
) -> float | None:
    """The source's time over the gain of the variant, so that a drift of both is in none."""
    job = searched.job
    report = service.evaluate(
        replace(
            job,
            job_id=f"trial-{tried.number}",
            scratch=job.scratch.with_name(f"trial-{tried.number}"),
            candidate=render(job.candidate, searched.space, tried.point),
            incumbent=job.candidate,
            protocol=replace(job.protocol, blocks=BLOCKS, looks=()),
        )
    )
    if report.outcome is not Outcome.PASSED or not report.cases:
        return None
    case = report.cases[0]
    if case.candidate is None or case.incumbent is None:
        return None
    old, new = (decisive_samples(case, arm) for arm in (case.incumbent, case.candidate))
    gain = median(max(a, 1e-9) / max(b, 1e-9) for a, b in zip(old, new, strict=True))
    return median(old) / gain
