"""Whether a trick ends as its file says."""

from __future__ import annotations

from math import exp, log
from pathlib import Path

import pytest

from campaigns.benchmarks.trick import Trick, job_of
from campaigns.devices.discover import this_device
from campaigns.devices.launch import EvaluatorService
from campaigns.evaluator.contract import CaseReport, Outcome, Report
from campaigns.rules.verdict.decision import Reason
from campaigns.rules.verdict.finding_kinds import LENIENT, Examined, Stance
from campaigns.rules.verdict.gates import Standard, decisive_samples
from campaigns.rules.verdict.repeats import repeats
from campaigns.syntax.findings.find import findings_of
from tests.evaluator.tricks.candidate_file import every

# One that passes may seem this much faster than the honest kernel beside it, by noise; on a busy
# host even more than that, but not every time.
NOISE, SESSIONS = {"cpu": 1.4, "cuda:0": 1.03}, 3


def params(kind: str, *backends: str, only_on: str = "") -> list[object]:
    """Those that are tricks on a CPU, or are some on `only_on` alone; CUDA's are on either."""
    found = [trick for backend in backends for trick in every(kind, backend)]
    if only_on:
        found = [trick for trick in found if trick.words.get("on") == only_on]
    else:
        found = [trick for trick in found if trick.runs_on("cpu")]
    return [pytest.param(trick, id=f"{trick.backend}/{trick.path.stem}") for trick in found]


def evaluate(service: EvaluatorService, trick: Trick, scratch: Path, device: str = "cpu") -> Report:
    target = "native" if device == "cpu" else this_device(device).target
    return service.evaluate(job_of(trick, scratch / "scratch", device, target))


def gains(report: Report, device: str) -> bool:
    return any(speed_of(case) >= NOISE[device] for case in report.cases)


def is_fitted(report: Report) -> bool:
    """Whether its verdict is that it is faster on inputs that it has seen (R20)."""
    return repeats(report, Standard(has_incumbent=True)).reason is Reason.FITTED


def held_to(trick: Trick, report: Report) -> None:
    told = f"{report.outcome} in {report.phase}: {report.reason}\n{report.runner_log[-2000:]}"
    assert report.outcome in trick.outcomes, told
    assert any(part in report.reason for part in trick.says), told
    if report.outcome is not Outcome.PASSED:
        assert all(case.candidate is None for case in report.cases)


def speed_of(case: CaseReport) -> float:
    """How many times faster than the honest kernel beside it, the geometric mean of the pairs."""
    assert case.candidate is not None
    assert case.incumbent is not None
    arms = (decisive_samples(case, arm) for arm in (case.incumbent, case.candidate))
    pairs = zip(*arms, strict=True)
    ratios = [log(max(old, 1e-9) / max(new, 1e-9)) for old, new in pairs]
    return exp(sum(ratios) / len(ratios))


def not_believed(
    service: EvaluatorService, trick: Trick, scratch: Path, device: str = "cpu"
) -> None:
    """Fails where it is accepted, or seems faster in every session, or ends otherwise than said."""
    for _ in range(SESSIONS):
        report = evaluate(service, trick, scratch, device)
        if report.outcome is Outcome.PASSED and "needs_review" in trick.outcomes:
            found = Examined(trick.path.name, findings_of(trick.source), LENIENT)
            assert found.of(Stance.REVIEW)
            return
        if report.outcome is not Outcome.PASSED or "no_gain" not in trick.outcomes:
            held_to(trick, report)
            return
        if not gains(report, device) or is_fitted(report):
            return
    pytest.fail(f"a gain in each of {SESSIONS} sessions: {report.cases}")
