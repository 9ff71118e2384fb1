"""What crosses to an evaluator's process and back: a candidate, and what was said about it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from campaigns.evaluator.contract import Param


class Opinion(StrEnum):
    """How one evaluation ended. The last two say nothing about the evaluator."""

    CORRECT = "correct"
    REFUSED = "refused"
    FLAGGED = "flagged"
    DIED = "died"
    HUNG = "hung"
    NO_FORM = "no form"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class PeerAnswer:
    """opinion: `FLAGGED` is correct by the numbers, and suspected. time_us, reference_us: as the
    evaluator measured them, of the candidate and of what it calls the reference; None where not.
    gain: whether its own rule grants a gain; None where it took no time."""

    opinion: Opinion
    reason: str = ""
    time_us: float | None = None
    reference_us: float | None = None
    gain: bool | None = None

    @property
    def accepted(self) -> bool:
        return self.opinion is Opinion.CORRECT

    @property
    def credited(self) -> bool:
        """Accepted, and not found slower than what it is held against."""
        return self.accepted and self.gain is not False


@dataclass(frozen=True, slots=True)
class PeerTask:
    """source: the candidate's file. problem: its folder. device: "cpu" or "cuda:<index>".

    out: where the process writes a `PeerAnswer`. folder: a fresh one to work in. stated: the
    candidate and its problem in the evaluator's own schema, where it has one.
    """

    source: str
    backend: str
    problem: str
    params: dict[str, Param]
    flags: tuple[str, ...]
    device: str
    folder: str
    out: str
    stated: dict[str, Any] = field(default_factory=dict)

    def dump(self) -> str:
        return json.dumps(asdict(self))

    @property
    def text(self) -> str:
        return Path(self.source).read_text()

    @property
    def form(self) -> str:
        """The expression that makes this candidate's `Form`."""
        return f"Form({self.problem!r}, {self.params!r})"


def load_task(text: str) -> PeerTask:
    found = json.loads(text)
    return PeerTask(**found | {"flags": tuple(found["flags"])})


def answer_with(evaluate: Callable[[PeerTask], PeerAnswer]) -> None:
    """What an evaluator's process does: read its task from the command line, write the answer."""
    task = load_task(sys.argv[1])
    write_answer(Path(task.out), evaluate(task))


def write_answer(path: Path, answer: PeerAnswer) -> None:
    path.write_text(json.dumps(asdict(answer)))


def read_answer(path: Path) -> PeerAnswer | None:
    """None where nothing that can be read was written."""
    try:
        found = json.loads(path.read_text())
        return PeerAnswer(**found | {"opinion": Opinion(found["opinion"])})
    except (OSError, ValueError, KeyError, TypeError):
        return None
