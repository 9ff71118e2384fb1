"""What sanitizers say of a candidate that would be accepted: a finding ends it, silence never does.

A gain does not speak for a kernel that reads or writes what is not its own, or that is right only
by the luck of its threads; the next input, driver or machine may show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from campaigns.evaluator.contract import Sanitized
from campaigns.rules.decision import VERDICT_OF, Decision, Gate, Reason

NAME = "sanitizers"
_LIMIT = "no finding on the smallest case, where a sanitizer runs"


def under_sanitizers(decision: Decision, said: Sequence[Sanitized]) -> Decision:
    """Add the gate; what would be accepted is rejected where a sanitizer found anything."""
    if decision.reason is not Reason.PROMOTED:
        return replace(decision, gates=(*decision.gates, Gate(NAME, None, "not reached", _LIMIT)))
    gate = Gate(NAME, passed(said), found_words(said), _LIMIT)
    gates = (*decision.gates, gate)
    guilty = next((one for one in said if one.faults), None)
    if guilty is None:
        return replace(decision, gates=gates)
    reason = Reason.SANITIZER
    sentence = f"Rejected: {fault_words(guilty)}. Apart from that: {decision.sentence}"
    return replace(
        decision, verdict=VERDICT_OF[reason], reason=reason, sentence=sentence, gates=gates
    )


def passed(said: Sequence[Sanitized]) -> bool | None:
    """True where at least one ran and none found anything; None where none ran."""
    if any(one.faults for one in said):
        return False
    return True if any(one.ran for one in said) else None


def found_words(said: Sequence[Sanitized]) -> str:
    """Every sanitizer with what it said, in one line."""
    return "; ".join(map(_words, said)) or "not run: nothing was asked"


def fault_words(said: Sanitized) -> str:
    """The first finding, with its place: "AddressSanitizer found … in kernel.cpp line 8 (…)"."""
    first = said.faults[0]
    place = f" in {first.file} line {first.line}" if first.line else f" in {first.file}"
    return f"{said.tool} found {first.kind}{place}{f' ({first.what})' if first.what else ''}"


def _words(said: Sanitized) -> str:
    if said.faults:
        more = len(said.faults) - 1
        return fault_words(said) + (f" and {more} more" if more else "")
    if not said.ran:
        return f"{said.tool} not run: {said.note}"
    return f"{said.tool} clean{f' ({said.note})' if said.note else ''}"
