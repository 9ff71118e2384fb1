"""From the measured sessions of a round to its verdict: pure, and called once per round (R43)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from campaigns.evaluator.contract import Outcome, Report
from campaigns.rules.verdict.decision import Decision
from campaigns.rules.verdict.gates import Standard
from campaigns.rules.verdict.one_session import decide_session
from campaigns.rules.verdict.sessions import claims, decide_again, merged


@dataclass(frozen=True, slots=True)
class Judgement:
    """report: the facts that the verdict shows; None for a candidate that was never run.

    second: the decision on the second session alone; None before there is one. deciding: the
    session that the verdict names: 0, or 1 if the second session failed.
    """

    decision: Decision
    report: Report | None = None
    second: Decision | None = None
    deciding: int = 0

    @property
    def is_claim(self) -> bool:
        """Whether the gain needs a second session before it can be accepted."""
        return self.second is None and claims(self.decision)


def decide(reports: Sequence[Report], standard: Standard) -> Judgement:
    """Judge a candidate by its sessions, the first one first.

    reports: none for a candidate whose source is refused, one at first, two after a second session.
    Raises ValueError if the arms of a case differ in sample count, and without a report if nothing
    is refused.
    """
    if not reports:
        return Judgement(decide_session(None, standard))
    first = decide_session(reports[0], standard)
    if len(reports) == 1:
        return Judgement(first, reports[0])
    second = decide_session(reports[1], replace(standard, sessions=2))
    if not claims(first):
        return Judgement(first, reports[0], second)
    return Judgement(
        decision=decide_again(reports[0], reports[1], standard),
        report=merged(*reports),
        second=second,
        deciding=0 if reports[1].outcome is Outcome.PASSED else 1,
    )
