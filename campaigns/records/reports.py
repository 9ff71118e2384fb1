"""The stored reports of evaluations, and the machine code in them."""

from __future__ import annotations

from collections.abc import Iterable

from campaigns.evaluator.contract import ContractError, MachineCode, Report
from campaigns.models import Candidate, Evaluation, EvaluationKind

# Evaluations whose candidate may be the incumbent next: the machine code of these is read.
READ_IN = frozenset({EvaluationKind.BASELINE, EvaluationKind.REMEASURE})


def report_of(evaluation: Evaluation) -> Report | None:
    """The stored report; None while there is none, or where another version wrote it."""
    try:
        return evaluation.facts
    except ContractError:
        return None


def machine_code_of(candidate: Candidate) -> MachineCode | None:
    """As it was read when the candidate was measured to become the incumbent, the last time."""
    return machine_code_in(candidate.evaluations.filter(kind__in=READ_IN).order_by("-pk"))


def machine_code_in(evaluations: Iterable[Evaluation]) -> MachineCode | None:
    """The same of the candidate's evaluations, the newest first."""
    for evaluation in evaluations:
        report = report_of(evaluation) if evaluation.kind in READ_IN else None
        if report and report.machine_code:
            return report.machine_code
    return None
