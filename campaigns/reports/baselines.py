"""How the best stands beside torch: eager, compiled, and the library's own kernel."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, replace
from typing import Any

from campaigns.evaluator.contract import CopiedOutput, Outcome, Report
from campaigns.models import Campaign, Evaluation, EvaluationState
from campaigns.models.kinds import EVALUATION_KINDS
from campaigns.records.baselines import evaluations_of, wants_baselines
from campaigns.records.evaluations import report_of
from campaigns.records.judged_rounds import standard_of
from campaigns.records.values import gain_facts
from campaigns.rules.noise.gain import Gain, geomean
from campaigns.rules.verdict.gates import decisive_samples
from campaigns.rules.verdict.one_session import compare
from campaigns.rules.verdict.report_words import copied_by, copied_words
from campaigns.rules.wording import NamedNumber, duration

# Said where nothing of torch was measured, as in campaigns from before it was.
NONE = "not measured in this campaign"
WHY = {
    Outcome.BROKEN_HOST: "the host failed",
    Outcome.CHEATED: "its times are not to be believed",
    Outcome.NOT_JUDGED: "not judged here",
}


@dataclass(frozen=True, slots=True)
class BaselineCase:
    """One case of both arms, medians in µs. gain: of kopt's kernel over torch."""

    case: str
    time_us: float
    kernel_us: float
    gain: Gain


@dataclass(frozen=True, slots=True)
class BaselineRow:
    """One reference implementation, measured side by side with the kernel of round `beside`.

    outcome: "" until it is measured, and where it was not tried. why: why there is no time, without
    a full stop; "" where there is one. is_best: whether that kernel is still the incumbent.
    timer: how both arms were timed. gain: of the kernel over torch, over all cases. copied: what
    torch copies in a timed call, at its largest; note: the same as a sentence.
    """

    kind: str
    evaluation: int
    beside: int
    is_best: bool
    outcome: str
    why: str
    timer: str = ""
    gain: Gain | None = None
    cases: tuple[BaselineCase, ...] = ()
    copied: tuple[CopiedOutput, ...] = ()
    note: str = ""

    @property
    def name(self) -> str:
        """What people call it."""
        return EVALUATION_KINDS[self.kind].words

    @property
    def time_us(self) -> float | None:
        """torch's time, the geometric mean over the cases."""
        return self._mean("time_us")

    @property
    def kernel_us(self) -> float | None:
        """The kernel's time beside it, the same mean."""
        return self._mean("kernel_us")

    def _mean(self, name: str) -> float | None:
        if not self.cases:
            return None
        mean = geomean(getattr(case, name) for case in self.cases)
        return NamedNumber(mean, f"time:evaluation:{self.evaluation}:{name}")

    @property
    def words(self) -> str:
        """One line without a full stop at its end (law 9)."""
        if self.gain is None or self.time_us is None:
            return f"{self.name}: {self.why}"
        told = f"round {self.beside} is {self.gain.against(self.name)}"
        note = self.note and f". {self.note.rstrip('.')}"
        return f"{self.name}: {duration(self.time_us)}; {told}{note}"

    @property
    def facts(self) -> dict[str, Any]:
        """Plain data; gains are fractions, of the kernel over torch."""
        times = ("time_us", "kernel_us")
        cases = [
            {name: getattr(case, name) for name in ("case", *times)} | _gain_facts(case.gain)
            for case in self.cases
        ]
        return {
            "baseline": self.kind,
            "name": self.name,
            "evaluation": self.evaluation,
            "beside_round": self.beside,
            "beside_best": self.is_best,
            **{name: getattr(self, name) for name in ("outcome", "why", "timer", *times)},
            **_gain_facts(self.gain),
            "cases": cases,
            "copied": [asdict(one) for one in self.copied],
            "note": self.note,
        }


def _gain_facts(gain: Gain | None) -> dict[str, Any]:
    return {**gain_facts(gain), "interval": gain.kind if gain else ""}


def baseline_rows(campaign: Campaign) -> tuple[BaselineRow, ...]:
    """A row for each that was asked for, whatever came of it; none where nobody asked."""
    if not wants_baselines(campaign):
        return ()
    return tuple(_row(campaign, one) for one in evaluations_of(campaign).values())


def baseline_lines(campaign: Campaign) -> list[str]:
    """The same for a terminal."""
    return [row.words for row in baseline_rows(campaign)]


def _row(campaign: Campaign, evaluation: Evaluation) -> BaselineRow:
    reason = " ".join(evaluation.reason.split()).rstrip(".")
    if evaluation.state != EvaluationState.DONE:
        why = evaluation.doing
    elif not evaluation.outcome:
        why = f"not measured: {reason}"
    elif evaluation.outcome != Outcome.PASSED:
        outcome = Outcome(evaluation.outcome)
        why = f"not measured: {WHY.get(outcome, outcome.words)}: {reason}"
    else:
        why = ""
    row = BaselineRow(
        kind=evaluation.kind,
        evaluation=evaluation.pk,
        beside=evaluation.candidate.round.number,
        is_best=evaluation.candidate_id == campaign.incumbent_id,
        outcome=evaluation.outcome,
        why=why,
    )
    report = report_of(evaluation)
    if row.why or report is None:
        return row
    if not report.cases or not all(case.candidate and case.incumbent for case in report.cases):
        return replace(row, why="correct, but its times mean nothing on this device")
    return _compared(campaign, row, report)


def _compared(campaign: Campaign, row: BaselineRow, report: Report) -> BaselineRow:
    """The gains of the kernel over torch, so that its arm stands where a candidate's does.

    Of two clocks the one that shows the lesser gain counts, as in a verdict. report: its cases have
    both arms timed.
    """
    turned = tuple(
        replace(case, candidate=case.incumbent, incumbent=case.candidate) for case in report.cases
    )
    standard = standard_of(campaign, has_incumbent=True)
    found = compare(replace(report, cases=turned), standard).credited
    cases, timers = [], set()
    for case in turned:
        assert case.candidate
        assert case.incumbent
        torch, kernel = (
            statistics.median(decisive_samples(case, arm))
            for arm in (case.incumbent, case.candidate)
        )
        cases.append(BaselineCase(case.case, torch, kernel, found.cases[case.case]))
        timers.add(case.candidate.timer.value)
    return replace(
        row,
        gain=replace(found.gain, name=f"gain:evaluation:{row.evaluation}"),
        cases=tuple(cases),
        timer=", ".join(sorted(timers)),
        copied=copied_by(report),
        note=copied_words(report, whose=row.name),
    )
