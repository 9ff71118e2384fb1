"""What an evaluator said about one candidate, as it crosses from its process to this one."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path


class Answer(StrEnum):
    """How one evaluation ended. The last two say nothing about the evaluator."""

    CORRECT = "correct"
    REFUSED = "refused"
    FLAGGED = "flagged"
    DIED = "died"
    HUNG = "hung"
    NO_FORM = "no form"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Told:
    """answer: `FLAGGED` is correct by the numbers, and suspected. time_us, reference_us: as the
    evaluator measured them, of the candidate and of what it calls the reference; None where not.
    gain: whether its own rule grants a gain; None where it took no time."""

    answer: Answer
    reason: str = ""
    time_us: float | None = None
    reference_us: float | None = None
    gain: bool | None = None

    @property
    def accepted(self) -> bool:
        return self.answer is Answer.CORRECT

    @property
    def counts(self) -> bool:
        """Whether the evaluator was asked at all."""
        return self.answer not in (Answer.NO_FORM, Answer.NOT_RUN)

    @property
    def credited(self) -> bool:
        """Accepted, and not found slower than what it is held against."""
        return self.accepted and self.gain is not False

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))


def timed(reason: str, time_us: float, reference_us: float) -> Told:
    """Correct, with times in microseconds; the gain is what most evaluators report: a ratio > 1."""
    return Told(Answer.CORRECT, reason, time_us, reference_us, reference_us > time_us)


def read(path: Path) -> Told | None:
    """None where nothing that can be read was written."""
    try:
        found = json.loads(path.read_text())
        return Told(**found | {"answer": Answer(found["answer"])})
    except (OSError, ValueError, KeyError, TypeError):
        return None
