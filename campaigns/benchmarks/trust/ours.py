"""Ask the evaluator of this project, the way a round does."""

from __future__ import annotations

from dataclasses import replace

from campaigns.benchmarks.spread import Place
from campaigns.benchmarks.trust.told import Answer, Told
from campaigns.benchmarks.trust.trick import Trick, job_of
from campaigns.evaluator.contract import CaseReport, Outcome, Report
from campaigns.rules.decision import Verdict
from campaigns.rules.gates import Standard
from campaigns.rules.noise import LEAST_PAIRS, noise_floor
from campaigns.rules.verdict import decide

NAME = "kopt"
ANSWERS = {Outcome.PASSED: Answer.CORRECT, Outcome.BROKEN_HOST: Answer.DIED}


def ask(trick: Trick, place: Place) -> Told:
    """One evaluation; a trick that names an honest kernel is compared with it, and judged."""
    job = job_of(trick, place.scratch, place.device.device, place.device.target)
    if trick.against:
        job = replace(job, protocol=replace(job.protocol, blocks=LEAST_PAIRS))
    report = place.service.evaluate(job)
    answer = ANSWERS.get(report.outcome, Answer.REFUSED)
    reason = f"{report.outcome}: {report.reason}"
    if answer is not Answer.CORRECT:
        return Told(answer, reason[:200])
    gain = _gains(report) if trick.against else None
    return Told(answer, "", *_times_us(report.cases[0]), gain)


def _gains(report: Report) -> bool:
    decision = decide(report, Standard(has_incumbent=True, noise=noise_floor(0.0)))
    return decision.verdict is Verdict.ACCEPTED


def _times_us(case: CaseReport) -> tuple[float | None, float | None]:
    arms = (case.candidate, case.incumbent)
    first, second = (sorted(arm.samples_us) if arm else [] for arm in arms)
    return _middle(first), _middle(second)


def _middle(ordered: list[float]) -> float | None:
    return ordered[len(ordered) // 2] if ordered else None
