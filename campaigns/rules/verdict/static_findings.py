"""Findings in a candidate's source before the build: a refused kind ends it, others are shown."""

from __future__ import annotations

from campaigns.rules.verdict.decision import Gate, Reason
from campaigns.rules.verdict.finding_kinds import Examined, Finding, FindingKind, Stance
from campaigns.rules.verdict.gates import GateOutcome

NAME = "static findings"
MOST_NAMED = 3


def static_findings(examined: Examined | None) -> GateOutcome:
    """Does the source hold anything that its campaign refuses?

    None for a candidate that was stored before sources were examined; it passes.
    """
    if examined is None:
        return GateOutcome(Gate(NAME, None, "not examined", ""))
    limit = _limit(examined)
    refused = examined.of(Stance.REFUSED)
    if refused:
        first = refused[0]
        gate = Gate(NAME, False, _listed(refused), limit)
        sentence = (
            f"Rejected before it was built: {examined.file} line {first.line}, {first.what}. "
            f"{first.kind.meaning} This campaign refuses findings of kind {first.kind.words}."
        )
        return GateOutcome(gate, Reason.FINDING_REFUSED, sentence)
    flagged, allowed = examined.of(Stance.FLAGGED), examined.of(Stance.ALLOWED)
    parts = [f"flagged: {_listed(flagged)}"] if flagged else []
    parts += [f"{len(allowed)} allowed"] if allowed else []
    return GateOutcome(Gate(NAME, True, "; ".join(parts) or "nothing found", limit))


def _limit(examined: Examined) -> str:
    refused = [kind.words for kind in FindingKind if examined.policy[kind] is Stance.REFUSED]
    return f"nothing of kind {', '.join(refused)}" if refused else "nothing is refused"


def _listed(findings: tuple[Finding, ...]) -> str:
    named = [f"line {each.line}, {each.what} ({each.kind.words})" for each in findings[:MOST_NAMED]]
    more = len(findings) - MOST_NAMED
    return "; ".join(named) + (f"; and {more} more" if more > 0 else "")
