"""Request a measurement of a candidate, unless its source or its bucket is refused (R21)."""

from __future__ import annotations

from django.utils import timezone

from campaigns.models import Candidate, Evaluation, EvaluationKind, EvaluationState
from campaigns.models.event import record
from campaigns.models.transitions import move
from campaigns.records.findings import examined
from campaigns.records.rounds import declared_of
from campaigns.rules.verdict.source_gates import static_findings
from campaigns.rules.verdict.transfer import transfer


def request_evaluation(
    candidate: Candidate, against: Candidate | None, kind: EvaluationKind
) -> Evaluation:
    """Queue the evaluation of a new candidate, in the caller's transaction.

    A refused candidate is never built or run: its evaluation is done at once, without a report,
    and its reason is the sentence of the gate.
    """
    round_ = candidate.round
    evaluation = Evaluation.objects.create(candidate=candidate, against=against, kind=kind)
    found = static_findings(examined(candidate, round_.campaign))
    if found.reason is None:
        found = transfer(declared_of(round_))
    if found.reason is not None:
        move(
            evaluation,
            EvaluationState.DONE,
            reason=found.sentence,
            finished_at=timezone.now(),
        )
        message = f"round {round_.number}, {candidate.label}: not run: {found.gate.found}"
        record(round_.campaign, "refused", message, round=round_, candidate=candidate.ordinal)
    return evaluation
