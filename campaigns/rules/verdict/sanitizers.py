"""Sanitizers on a candidate that would be accepted: a finding rejects it.

A gain does not excuse a kernel that accesses foreign memory or is correct only by lucky timing of
its threads; the next input, driver or machine may expose it. A sanitizer that could not run is
reported, and stops a gain only if the campaign's protocol requires sanitizers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from campaigns.evaluator.contract import Sanitized
from campaigns.rules.verdict.decision import Decision, Gate, Reason

NAME = "sanitizers"
NOT_REACHED = "not reached"
# Backends whose candidates any sanitizer can be run on at all.
BACKENDS = ("cpp", "cuda")
_LIMIT = "no finding on the smallest case, where a sanitizer runs"
_REQUIRED = "every sanitizer runs on the smallest case and finds nothing (required here)"


def under_sanitizers(
    decision: Decision, said: Sequence[Sanitized], *, required: bool = False
) -> Decision:
    """Add the gate; reject an otherwise accepted candidate if a sanitizer found anything.

    required: whether a sanitizer that did not run leads to a review.
    """
    limit = _REQUIRED if required else _LIMIT
    if decision.reason is not Reason.PROMOTED:
        return replace(decision, gates=(*decision.gates, Gate(NAME, None, NOT_REACHED, limit)))
    guilty = next((one for one in said if one.faults), None)
    lacking = required and not (said and all(one.ran for one in said))
    gate = Gate(NAME, False if lacking else passed(said), found_words(said), limit)
    gates = (*decision.gates, gate)
    if guilty is None and not lacking:
        return replace(decision, gates=gates)
    reason = Reason.SANITIZER if guilty else Reason.NOT_SANITIZED
    words = fault_words(guilty) if guilty else f"sanitizers are required, and {found_words(said)}"
    sentence = f"{reason.verdict.words.capitalize()}: {words}. Apart from that: {decision.sentence}"
    return replace(decision, reason=reason, sentence=sentence, gates=gates)


def passed(said: Sequence[Sanitized]) -> bool | None:
    """True if at least one ran and none found anything; None if none ran."""
    if any(one.faults for one in said):
        return False
    return True if any(one.ran for one in said) else None


def found_words(said: Sequence[Sanitized]) -> str:
    """Every sanitizer and its result in one line."""
    told = []
    for one in said:
        if one.faults:
            more = f" and {len(one.faults) - 1} more" if len(one.faults) > 1 else ""
            told.append(fault_words(one) + more)
        elif one.ran:
            told.append(f"{one.tool} clean{f' ({one.note})' if one.note else ''}")
        else:
            told.append(f"{one.tool} not run: {one.note}")
    return "; ".join(told) or "not run: no sanitizer was requested"


def fault_words(said: Sanitized) -> str:
    """The first finding, with its place: "AddressSanitizer found … in kernel.cpp line 8 (…)"."""
    first = said.faults[0]
    place = f" in {first.file} line {first.line}" if first.line else f" in {first.file}"
    return f"{said.tool} found {first.kind}{place}{f' ({first.what})' if first.what else ''}"
