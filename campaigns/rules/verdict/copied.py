"""What timed calls copy only because the judge gives them their outputs: a caveat beside times."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from campaigns.evaluator.contract import CopiedOutput, Report, Timing
from campaigns.rules.wording import amount

Arm = Literal["candidate", "incumbent"]


def copied_by(report: Report, arm: Arm = "candidate") -> tuple[CopiedOutput, ...]:
    """Each output that a call of the arm copies into in some case, at its largest."""
    copies = sorted(
        (one for _, timing in _timed(report, arm) for one in timing.copied),
        key=lambda one: one.nbytes,
    )
    return tuple({one.name: one for one in copies}.values())


def copied_words(report: Report, arm: Arm = "candidate", whose: str = "") -> str:
    """One sentence, or "". whose: the arm that another one is compared with."""
    copied = copied_by(report, arm)
    if not copied:
        return ""
    listed = ", ".join(f"`{one.name}` ({_size(report, arm, one)})" for one in copied)
    timed = list(_timed(report, arm))
    cases = [case for case, timing in timed if timing.copied]
    where = f"In {', '.join(cases)} each" if len(cases) < len(timed) else "Each"
    return (
        f"{where} timed call{whose and f' of {whose}'} copies {listed} into its place; a caller "
        "that takes the returned tensor would not pay for that."
    )


def notes_of(report: Report) -> tuple[str, ...]:
    """The report's notes, and what its timed calls copy."""
    copies = copied_words(report), copied_words(report, "incumbent", "the incumbent")
    return (*report.notes, *filter(None, copies))


def _size(report: Report, arm: Arm, largest: CopiedOutput) -> str:
    sizes = {
        one.nbytes
        for _, timing in _timed(report, arm)
        for one in timing.copied
        if one.name == largest.name
    }
    return f"{'up to ' if len(sizes) > 1 else ''}{amount(largest.nbytes, 'B')}"


def _timed(report: Report, arm: Arm) -> Iterable[tuple[str, Timing]]:
    for case in report.cases:
        timing = case.candidate if arm == "candidate" else case.incumbent
        if timing is not None:
            yield case.case, timing
