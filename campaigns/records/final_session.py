"""The final session of a campaign: v0 and the best kernel, measured side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from campaigns.models import Campaign, Evaluation
from campaigns.records.campaigns import stored_result
from campaigns.records.cases import case_rows
from campaigns.records.evaluations import report_of
from campaigns.records.verdicts import Measured, case_results


def final_of(campaign: Campaign) -> Measured | None:
    """What it measured; None before it, and where nothing was compared."""
    return finals_of([campaign]).get(campaign.pk)


def finals_of(campaigns: Sequence[Campaign]) -> dict[int, Measured]:
    """Campaign key → its final session; one query where old rows have no cases."""
    results = {one.pk: stored_result(one) for one in campaigns}
    old = [one.evaluation for one in results.values() if one.evaluation and not one.cases]
    reports = Evaluation.objects.in_bulk(old) if old else {}
    found = {}
    for key, result in results.items():
        if (gain := result.as_gain) is not None:
            of = f"campaign:{key}"
            rows = result.cases or _rows(reports.get(result.evaluation or 0))
            gain = replace(gain, name=f"gain:{of}")
            found[key] = Measured(case_results(rows, gain.kind, of), gain, of)
    return found


def _rows(evaluation: Evaluation | None) -> list[dict[str, Any]]:
    report = report_of(evaluation) if evaluation else None
    return case_rows(report.cases, {}) if report else []
