"""What somebody else's campaign says of itself: claims with places, no verdicts of ours."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from knowledge.exchange.formats import Format
from knowledge.specs.json_text import printable

Value = str | int | float | bool
SPEEDUP = "speedup"


class System(StrEnum):
    """Who wrote a trail: kopt, or one of the four systems whose files it can read."""

    KOPT = "kopt"
    ATREX = "atrex-kernel-agent"
    SKILL = "kernel-opt-skill"
    OPTIMIZE = "kernel-optimize"
    KERNEL_OPT = "kernel-opt"


class TrailRefused(ValueError):
    """A trail that can not be read; the message names file, line, field and what is accepted."""


def refused(path: str, line: int, what: str, accepted: str) -> TrailRefused:
    """The error of one place. what: the field and what was found there."""
    where = f"{path}:L{line}" if line else path
    return TrailRefused(printable(f"{where}: {what}; accepted: {accepted}"))


@dataclass(frozen=True, slots=True)
class Claim:
    """One value as its file has it. unit: empty where the file names none."""

    field: str
    value: Value
    path: str
    line: int
    unit: str = ""

    @property
    def stored(self) -> dict[str, Any]:
        """Data that a JSON column keeps."""
        return asdict(self)

    @property
    def words(self) -> str:
        """Field, value and unit in one line."""
        return f"{self.field}: {self.value}{self.unit}"


@dataclass(frozen=True, slots=True)
class ClaimedRound:
    """One attempt as it was written down. number: None where its own system numbers nothing.

    name: what its system calls it. status: in that system's words. kept, masked: None where nobody
    says. figure: what it claims to have reached, in `unit`, as `metric` and `convention` explain;
    None where it was not measured. amends: what an appended correction stands for, else empty.
    kernel: the path of its source, else empty. missing: what its format has and this one lacks.
    """

    name: str
    path: str
    line: int
    number: int | None = None
    title: str = ""
    hypothesis: str = ""
    rationale: str = ""
    status: str = ""
    kept: bool | None = None
    masked: bool | None = None
    figure: float | None = None
    unit: str = ""
    metric: str = ""
    convention: str = ""
    amends: str = ""
    kernel: str = ""
    at: str = ""
    claims: tuple[Claim, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def gain(self) -> Claim | None:
        """How many times faster it claims to be, where its system writes that down."""
        return next((claim for claim in self.claims if claim.field == SPEEDUP), None)


@dataclass(frozen=True, slots=True)
class ClaimedCampaign:
    """All that a trail says. incumbent: the round that it calls its best, by name, or empty.

    figures: what the trail adds up to, for the plan of an import.
    """

    system: System
    rounds: tuple[ClaimedRound, ...]
    title: str = ""
    operator: str = ""
    platform: str = ""
    backend: str = ""
    incumbent: str = ""
    stop_reason: str = ""
    claims: tuple[Claim, ...] = ()
    figures: tuple[Claim, ...] = ()
    missing: tuple[str, ...] = ()
    tips: tuple[Claim, ...] = ()


def lacking(known: Iterable[tuple[str, object]]) -> tuple[str, ...]:
    """The names of what is not there: None, or a text that says nothing."""
    return tuple(name for name, value in known if value is None or value == "")


# Each reader of this folder adds its own.
FORMATS: list[Format[Mapping[str, str], ClaimedCampaign]] = []


def named(pattern: str) -> Callable[[Mapping[str, str]], bool]:
    """Whether one of the files, by path, has a name that only one system gives."""
    name = re.compile(pattern)
    return lambda files: any(name.fullmatch(path) for path in files)
