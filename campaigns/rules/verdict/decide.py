"""From everything that a round's sessions measured to its verdict: pure, and entered once (R43)."""

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
    """report: what the verdict shows; None of a candidate that was never run.

    second: what the second session shows by itself; None before there is one. deciding: which
    session the verdict names, 0 the first: the second one only where it failed.
    """

    decision: Decision
    report: Report | None = None
    second: Decision | None = None
    deciding: int = 0

    @property
    def is_claim(self) -> bool:
        """Whether the gain would be accepted and has to be measured again first."""
        return self.second is None and claims(self.decision)


def decide(reports: Sequence[Report], standard: Standard) -> Judgement:
    """Judge a candidate by its sessions, the first one first.

    reports: none of a candidate whose source is refused, one at first, two of a claim that was
    measured again. Raises ValueError when the arms of a case differ in sample count, and without a
    report where nothing is refused.
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
