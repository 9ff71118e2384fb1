"""Small reports and ceilings with known numbers."""

from __future__ import annotations

from collections.abc import Sequence

from campaigns.evaluator.contract import CaseReport, Outcome, Phase, Report, Timer, Timing
from knowledge.specs.cited import Cited, EvidenceClass


def ceiling(
    value: float, unit: str = "B/s", evidence: str = EvidenceClass.DOCUMENTED, metric: str = ""
) -> Cited:
    name = metric or ("memory_bandwidth" if unit == "B/s" else "peak_bf16_tensor_dense")
    display = f"{value / 1e12:g} T{unit}"
    citation = f"{name}: {display} <- <gpu-wiki>/docs/hardware/h100.md:L23"
    return Cited(name, value, unit, evidence, citation, "/w/docs/h100.md#L23", display)


def timing(
    samples_us: Sequence[float], device_us: float | None = None, timer: Timer = Timer.GRAPH
) -> Timing:
    return Timing(tuple(samples_us), 64, 8, timer, device_us)


def case(
    candidate: Timing | None = None,
    incumbent: Timing | None = None,
    name: str = "4096x4096",
    correct: bool = True,
    margin: float | None = 0.2,
) -> CaseReport:
    return CaseReport(
        name, correct, 12, 1e-6, 1e-5, margin, "", candidate=candidate, incumbent=incumbent
    )


def report(
    *cases: CaseReport, outcome: Outcome = Outcome.PASSED, reason: str = "all cases passed"
) -> Report:
    return Report("job-1", outcome, Phase.DONE, reason, cases)
