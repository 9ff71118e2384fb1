"""What a round is judged by, loaded once."""

from __future__ import annotations

from campaigns.evaluator.contract import protocol_from
from campaigns.models import (
    Campaign,
)
from campaigns.records.dispatch_classes import classes_by_case
from campaigns.rules.noise.gain import LEAST_FLOOR
from campaigns.rules.target.floors import floors_of, lesser_floors_of
from campaigns.rules.verdict.gates import Standard


def standard_of(campaign: Campaign, *, has_incumbent: bool) -> Standard:
    """What the campaign's reports are judged against: its noise, floors and protected cases."""
    cases = list(campaign.case_rows)
    return Standard(
        has_incumbent=has_incumbent,
        noise=campaign.noise.get("floor", LEAST_FLOOR),
        seed=campaign.seed,
        floors=floors_of(campaign.target),
        lesser_floors=lesser_floors_of(campaign.target),
        protected=frozenset(case.name for case in cases if case.protected),
        cases=frozenset(campaign.cases),
        whole=len(campaign.cases),
        halves=campaign.problem.halves,
        classes=classes_by_case(cases),
        require_sanitizers=protocol_from(campaign.protocol.rules).require_sanitizers,
    )
