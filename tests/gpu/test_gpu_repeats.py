"""R20 on a real card: who keeps what follows from weights is faster only where they come again."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns.benchmarks.trick import TRICKS
from campaigns.devices.discover import this_device
from campaigns.devices.launch import EvaluatorService
from campaigns.evaluator.contract import Case, Job, Outcome, Protocol, Source
from campaigns.rules.verdict.decision import GateOutcome, Reason
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.repeats import repeats

pytestmark = pytest.mark.gpu

WEIGHTED = TRICKS / "problems" / "weighted"
CASE = Case("declared", {"N": 1, "D": 1048000})
HONEST = (WEIGHTED / "v0.cu").read_text()
# Only what is faster is asked about inputs that it has seen.
DERIVE = "  derive<<<(D + 255) / 256, 256>>>(w, D);\n"
SLOW = HONEST.replace(DERIVE, 2 * DERIVE)
KEEPS = (TRICKS / "cheats" / "cuda" / "weights_by_content.cu").read_text()
STANDARD = Standard(
    has_incumbent=True, classes={CASE.name: ""}, cases=frozenset([CASE.name]), whole=1, noise=0.01
)


def judged(text: str, scratch: Path) -> GateOutcome:
    job = Job(
        job_id="gpu-test",
        problem=WEIGHTED,
        backend="cuda",
        device="cuda:0",
        target=this_device("cuda:0").target,
        cases=(CASE,),
        candidate=Source("candidate.cu", text),
        incumbent=Source("v0.cu", SLOW),
        scratch=scratch,
        protocol=Protocol(blocks=3, trials=1),
    )
    with EvaluatorService() as service:
        report = service.evaluate(job)
    assert report.outcome is Outcome.PASSED, report.reason + report.runner_log
    return repeats(report, STANDARD)


def test_r20_a_kernel_that_keeps_weights_is_fitted_to_the_benchmark(tmp_path):
    found = judged(KEEPS, tmp_path / "scratch")
    assert found.reason is Reason.FITTED, found.gate
    assert "kept" in found.gate.found


def test_r20_a_kernel_that_keeps_nothing_is_not(tmp_path):
    found = judged(HONEST.replace("255", "511").replace("256", "512"), tmp_path / "scratch")
    assert found.gate.passed is True, found.gate
