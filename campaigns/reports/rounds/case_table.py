"""The per-case table of one round: times of both arms, gain, share of the floor, correctness."""

from __future__ import annotations

from dataclasses import dataclass

from campaigns.evaluator.contract import CaseReport, Report
from campaigns.records.target.targets import CampaignTarget, CaseTarget
from campaigns.records.verdicts import CaseResult
from campaigns.reports.rounds.rows import RoundRow
from campaigns.rules.noise.gain import LEAST_FLOOR
from campaigns.rules.verdict.guard import CaseEffect, GuardPolicy, case_effect


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One case; `result` is None before a verdict and `facts` None before a report.

    time_us: on the basis of all pages; None where the round proves no time.
    """

    name: str
    result: CaseResult | None
    facts: CaseReport | None
    target: CaseTarget | None
    effect: CaseEffect | None
    time_us: float | None = None

    @property
    def share(self) -> float | None:
        """Floor over time."""
        floor = self.target.floor_us if self.target else None
        return floor / self.time_us if floor and self.time_us else None


def case_rows(
    row: RoundRow,
    report: Report | None,
    target: CampaignTarget,
    floor: float | None,
    guard: GuardPolicy = GuardPolicy.DEFAULT,
) -> tuple[CaseRow, ...]:
    """Join what a round's verdict and report say about each case, the worst gain first.

    floor: the campaign's noise floor as a fraction, None before the baseline has set it.
    """
    by_result = {result.case: result for result in row.results}
    by_fact = {fact.case: fact for fact in report.cases} if report else {}
    rows = [
        CaseRow(
            name=name,
            result=by_result.get(name),
            facts=by_fact.get(name),
            target=target.cases.get(name),
            effect=_effect(by_result.get(name), LEAST_FLOOR if floor is None else floor, guard),
            time_us=row.times.get(name),
        )
        for name in dict.fromkeys([*by_result, *by_fact])
    ]
    return tuple(sorted(rows, key=_worst_first))


def _effect(result: CaseResult | None, floor: float, guard: GuardPolicy) -> CaseEffect | None:
    if result is None or result.gain is None:
        return None
    return case_effect(result.gain, floor, guard)


def _worst_first(row: CaseRow) -> tuple[bool, float]:
    wrong = row.facts is not None and not row.facts.correct
    gain = row.result.gain.gain if row.result and row.result.gain else 0.0
    return (not wrong, gain)
