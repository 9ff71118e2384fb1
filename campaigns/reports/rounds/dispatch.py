"""Which config class runs which round's kernel, as pages, commands and the trail say it (R19)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from campaigns.models import Event, Round
from campaigns.records.cases import NO_SPLIT, runs_of, taken_by


@dataclass(frozen=True, slots=True)
class ClassRun:
    """One class and the round in which its kernel came; taken: by the predicate of this split."""

    name: str
    number: int
    taken: bool

    @property
    def words(self) -> str:
        return f"{self.name} runs the kernel of round {self.number}"


@dataclass(frozen=True, slots=True)
class Dispatch:
    """What a round's source does with each class. when: the split's predicate, "" without one."""

    when: str
    runs: tuple[ClassRun, ...]

    @property
    def facts(self) -> dict[str, Any]:
        return {"when": self.when, "runs": {run.name: run.number for run in self.runs}}


def dispatch_of(round_: Round) -> Dispatch:
    """Read from the round and its verdict; without runs where no class is on record."""
    stored, verdict = round_.split or {}, getattr(round_, "verdict", None)
    names = list(stored.get("runs", ())) or [
        str(row["class"]) for row in (verdict.classes if verdict else None) or ()
    ]
    taken = taken_by(round_)
    runs = runs_of(round_, names).items()
    return Dispatch(
        when=str(stored.get("when", "")),
        runs=tuple(ClassRun(name, number, name in taken) for name, number in runs),
    )


def no_split(round_: Round) -> str:
    """Why a round whose classes diverge was not followed by a split; "" where nothing is said."""
    said = Event.objects.filter(round=round_, kind=NO_SPLIT).first()
    return said.message if said else ""
