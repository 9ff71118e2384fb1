"""Why an evaluation ended, by whose fault it is.

EvaluationError
├── CandidateError      the candidate's fault: a result, carries its Outcome
└── HostError           ours or the machine's: measure again, never becomes experience
    └── BadReference    the problem's ref.py cannot be used
"""

from __future__ import annotations

from campaigns.evaluator.contract import Outcome, Phase


class EvaluationError(Exception):
    """Base of the tree. `reason` is one line for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class CandidateError(EvaluationError):
    """A candidate failed; `case` is where, when one case is to blame.

    arm: which of several candidates; "" for all of them.
    """

    def __init__(
        self, outcome: Outcome, phase: Phase, reason: str, case: str = "", arm: str = ""
    ) -> None:
        super().__init__(reason)
        self.arm = arm
        self.outcome = outcome
        self.phase = phase
        self.case = case


class HostError(EvaluationError):
    """The host, the device or the incumbent failed."""


class HostBusy(HostError):
    """Others have kept the judge from measuring."""


class BadReference(HostError):
    """The problem's `ref.py` cannot be used; the line names the function and what is wrong."""


class ProblemError(ValueError):
    """A problem folder that cannot be used; one line naming file and field."""


class BuildFailed(Exception):
    """The compiler refused the candidate; the text is its log."""


class Unsupported(Exception):
    """This host cannot build or run this kind of candidate."""


def is_out_of_memory(error: Exception) -> bool:
    """Whether the host or its device ran out of memory; torch has a type of its own for that."""
    return isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"


def printable(text: str) -> str:
    """What foreign code may have written: text for people, never parsed."""
    return "".join(c for c in text if c in "\n\t" or c.isprintable())


def one_line(text: str) -> str:
    """The same in one line."""
    return " ".join(printable(text).split())
