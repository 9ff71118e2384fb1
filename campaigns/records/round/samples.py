"""Every sample that an evaluation took, one row each."""

from __future__ import annotations

from typing import Any

from campaigns.evaluator.contract import Report


def sample_rows(report: Report | None) -> list[dict[str, Any]]:
    """Rows of case, arm, pair and time_us. pair: from 0; equal ones of both arms belong together.

    arm: candidate, or incumbent for the kernel that it is compared with.
    """
    return [
        {"case": case.case, "arm": arm, "pair": pair, "time_us": time_us}
        for case in (report.cases if report else ())
        for arm, timing in (("candidate", case.candidate), ("incumbent", case.incumbent))
        for pair, time_us in enumerate(timing.samples_us if timing else ())
    ]
