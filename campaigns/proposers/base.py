"""The input and the output of a proposer, and the registry of proposers.

A proposer sees plain values only: no database, no device, no settings.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any, Protocol, TypeVar, runtime_checkable

from campaigns.evaluator.contract import Param, Source
from campaigns.rules.search_log import SearchStep
from campaigns.rules.verdict.buckets import Bucket
from campaigns.rules.verdict.expectation import AdviceRecord
from campaigns.spaces.constraints import DeviceLimits
from campaigns.spaces.matmul_model import MatmulTask


class UnknownProposerError(LookupError):
    """No proposer of that name; the message lists the names there are."""


class MetricDirection(StrEnum):
    """Where a hypothesis expects its metric to go."""

    DOWN = "down"
    UP = "up"


class Category(StrEnum):
    """What kind of change a technique is; two of one category are the same direction."""

    LAUNCH = "tiles and launch"
    MOVEMENT = "layout and data movement"
    PIPELINE = "pipelining"
    REGISTERS = "registers and occupancy"
    INSTRUCTIONS = "instructions and compiler"
    ALGORITHM = "algorithm"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One earlier hypothesis of this campaign. `gain` is a ratio of times (1.2 = 1.2x faster)."""

    strategy: str
    params: Mapping[str, Param]
    verdict: str
    gain: float | None
    round: int


Values = tuple[tuple[str, Param], ...]  # parameters by name, sorted


@dataclass(frozen=True, slots=True)
class Advice:
    """A strategy that the team's experience recommends here.

    names: what proposers may call it; `*` at an end stands for anything. gain: what it came to
    where it worked, the median over campaigns, 0.05 is 5 % faster; None if it was not measured.
    params: what worked best, best first; empty where nothing says. is_here: they are of this very
    context, and need no screening.
    entries: the uuids that it rests on. words: its record, for people.
    """

    strategy: str
    names: tuple[str, ...]
    gain: float | None
    params: tuple[Values, ...] = ()
    is_here: bool = False
    entries: tuple[str, ...] = ()
    words: str = ""

    def is_about(self, strategy: str) -> bool:
        return any(fnmatchcase(strategy, name) for name in self.names)


@dataclass(frozen=True, slots=True)
class Pointed:
    """A finding of the incumbent's profile, with what proposers may call the strategies against it.

    cites: its name in `proposers.evidence`. words: what was counted. trust: what became of
    the rounds that cited it; None where there was none.
    """

    cites: str
    words: str
    names: frozenset[str]
    trust: AdviceRecord | None = None


@dataclass(frozen=True, slots=True)
class TriedElsewhere:
    """An idea that another campaign tried in this context, and that did not work (R36).

    is_same: it started from the very source that is the incumbent now, built alike: trying it again
    would be the same experiment. news: else what is new. words: where it was, and what it showed.
    """

    strategy: str
    params: Values
    is_same: bool
    entry: str
    words: str
    news: str


NO_LIMITS = DeviceLimits()


@dataclass(frozen=True, slots=True)
class Situation:
    """The input of a proposer.

    evidence: facts measured on the incumbent, in the shape that `proposers.evidence` documents.
    seed: makes any random choice repeatable. classes: the config classes of the campaign's cases.
    directions: strategies that a stagnation review named since the last gain, the most different
    first; empty without one. limits: of the chip, as far as known. element_bytes: the size of what
    the kernel works on, at least. product: where it multiplies matrices, what is known of that.
    pointed: what the incumbent's profile points at. suited: what proposers may call strategies that
    are for its class, where that was counted. lessons: what it was told to read, in words.
    learned: what experience recommends, best first. spent: what it says did not work.
    has_kernel: False where the incumbent is the reference, run by torch; first: the kernel to begin
    with then, where there is one.
    """

    problem: str
    op: str
    backend: str
    source: Source
    incumbent_round: int
    device_kind: str
    history: tuple[Attempt, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    classes: tuple[str, ...] = ()
    directions: tuple[str, ...] = ()
    pointed: tuple[Pointed, ...] = ()
    suited: frozenset[str] = frozenset()
    lessons: str = ""
    learned: tuple[Advice, ...] = ()
    limits: DeviceLimits = NO_LIMITS
    element_bytes: int = 1
    product: MatmulTask | None = None
    spent: tuple[TriedElsewhere, ...] = ()
    has_kernel: bool = True
    first: Variant | None = None


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One change, the reason why it should help, and the metric that would show it.

    expected_amount: the share by which the metric should move (0.45 = 45 %). bucket: how the gain
    reaches real use. work_us, step_us: of a weight cache (W1) what it leaves out once a step, and
    one step of the real use, both measured.
    scope: the config class that it is about, one of `Situation.classes`; "" for all cases.
    follows: the uuids of the entries of experience that it follows. cites: what of the incumbent's
    profile it rests on, by the names of `proposers.evidence.ProfileFact.sentences`.
    searched: where it was looked for, in that order (R35).
    """

    strategy: str
    title: str
    change: str
    rationale: str
    evidence: tuple[str, ...]
    expected_metric: str
    expected_direction: MetricDirection
    expected_amount: float
    risks: str
    params: Mapping[str, Param]
    bucket: Bucket
    work_us: float | None = None
    step_us: float | None = None
    scope: str = ""
    follows: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()
    searched: tuple[SearchStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Variant:
    """One source to measure; a sweep has several, told apart by `label` and `params`."""

    label: str
    source: Source
    params: Mapping[str, Param] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """A search over the knobs of the incumbent's source.

    knobs: name, values and present value of each. size: how many points, legal or not. seeds:
    points to try first. most_points, most_s: when it ends at the latest.
    """

    knobs: tuple[tuple[str, tuple[Param, ...], Param], ...]
    size: int
    strategy: str
    seed: int
    seeds: tuple[Mapping[str, Param], ...]
    most_points: int
    most_s: float


@dataclass(frozen=True, slots=True)
class Draft:
    """A planned round: one hypothesis and the candidates that test it.

    sweep: a search that finds the candidates; the one given is then the source as it is.
    """

    hypothesis: Hypothesis
    candidates: tuple[Variant, ...]
    sweep: SweepPlan | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """How the last candidate of an open round failed; the hypothesis stays the same.

    outcome: build_failed, wrong_result, crashed or timed_out. log: the end of the output of
    compiler and candidate; untrusted text. tried: every source of the round so far.
    """

    strategy: str
    label: str
    source: Source
    params: Mapping[str, Param]
    outcome: str
    reason: str
    log: str
    tried: tuple[Source, ...]


@runtime_checkable
class Repairer(Protocol):
    """A proposer that can also repair a candidate (R17)."""

    def repair(self, situation: Situation, failure: Failure, /) -> Variant | None: ...


class Proposer(Protocol):
    """Drafts the next round; None when it has no idea left."""

    name: str

    def propose(self, situation: Situation, /) -> Draft | None: ...


Kind = TypeVar("Kind", bound=type)

_registry: dict[str, type[Proposer]] = {}


def register(kind: Kind) -> Kind:
    """Class decorator: enter a proposer under its `name`."""
    _registry[kind.name] = kind  # type: ignore[attr-defined]
    return kind


def proposer(name: str) -> Proposer:
    """Make the proposer of that name. Raises UnknownProposerError."""
    discover("campaigns.proposers")
    if name not in _registry:
        known = ", ".join(sorted(_registry))
        raise UnknownProposerError(f"proposer: {name!r} is not known; accepted: {known}")
    return _registry[name]()


def proposer_names() -> tuple[str, ...]:
    """The names of all registered proposers, sorted."""
    discover("campaigns.proposers")
    return tuple(sorted(_registry))


def discover(package: str) -> None:
    """Import every module of a package, so that its classes register themselves."""
    root = importlib.import_module(package)
    for found in pkgutil.walk_packages(root.__path__, f"{package}."):
        importlib.import_module(found.name)
