"""The one thing that an evaluator's process is told: a candidate, a device, where to work."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from campaigns.evaluator.contract import Param


@dataclass(frozen=True, slots=True)
class Task:
    """source: the candidate's file. problem: its folder. device: "cpu" or "cuda:<index>".

    out: where the process writes a `Told`. folder: a fresh one to work in. stated: the candidate
    and its problem in the evaluator's own schema, where it has one.
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


def load(text: str) -> Task:
    found = json.loads(text)
    return Task(**found | {"flags": tuple(found["flags"])})
