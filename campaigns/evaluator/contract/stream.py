"""What a stream of variants carries: one process builds or screens one after the other.

A stream is one job that goes on: lines `order PATH` go in, each the file of one `VariantOrder`, and
`end` after the last; lines `built {…}` or `screened {…}` come out. A screen orders variants and
accepts none: what decides is an evaluation of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from campaigns.evaluator.contract.job import Source
from campaigns.evaluator.contract.report import Outcome

# Beside the artefacts of a build: its `BuildFacts`.
FACTS_FILE = "facts.json"


class Stream(StrEnum):
    """What is done with every variant of a stream."""

    NONE = ""  # no stream: an evaluation
    BUILD = "build"  # compile it into its folder
    SCREEN = "screen"  # load what was built, check it once, and time it roughly


@dataclass(frozen=True, slots=True)
class VariantOrder:
    """One variant. artefact: the folder of what was built of it, to be written or to be read.

    best_us: by case the least time so far; what is far behind it ends early.
    """

    number: int
    source: Source
    artefact: Path
    best_us: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BuildFacts:
    """What a compiler said of the largest kernel; None where it said nothing. Bytes are a thread's,
    shared memory a block's."""

    registers: int | None = None
    spill_bytes: int | None = None
    stack_bytes: int | None = None
    shared_bytes: int | None = None


NOTHING_SAID = BuildFacts()


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What became of one build: PASSED, BUILD_FAILED, TIMED_OUT or BROKEN_HOST with its reason.

    host_busy: others kept the host busy, so that its being late says nothing of the variant.
    """

    number: int
    outcome: Outcome
    reason: str = ""
    facts: BuildFacts = NOTHING_SAID
    wall_s: float = 0.0
    host_busy: bool = False

    def lasting(self, wall_s: float, *, host_busy: bool = False) -> BuildResult:
        return replace(self, wall_s=wall_s, host_busy=host_busy)


@dataclass(frozen=True, slots=True)
class ScreenResult:
    """What a screen found of one variant. times_us: by case, per call; they order, no more.

    ended_early: it was so far behind that it was not timed on. host_busy: as of a build.
    """

    number: int
    outcome: Outcome
    reason: str = ""
    times_us: Mapping[str, float] = field(default_factory=dict)
    ended_early: bool = False
    wall_s: float = 0.0
    host_busy: bool = False

    def lasting(self, wall_s: float, *, host_busy: bool = False) -> ScreenResult:
        return replace(self, wall_s=wall_s, host_busy=host_busy)
