"""What is asked for: one candidate, its cases and the rules that it is measured by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

SCHEMA = 1

# Names the folder of the judge's own loops, in the environment of the service. Without it there are
# none.
KERNELS = "JUDGE_KERNELS"
# The arms of a comparison. Further candidates are "rival 1", "rival 2", …
CANDIDATE, RIVAL, INCUMBENT = "candidate", "rival", "incumbent"

Param = int | float | str | bool


class ContractError(ValueError):
    """A job or report file that this version cannot read; the message names the field."""


@dataclass(frozen=True, slots=True)
class Source:
    """One candidate's code: its file name, its text and extra compiler flags."""

    name: str
    text: str
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """One input configuration; `params` are the keyword arguments of the problem's `setup`."""

    name: str
    params: Mapping[str, Param]


@dataclass(frozen=True, slots=True)
class Limits:
    """Wall-clock limits per phase, in seconds (rule R16).

    lost_s: of time that brings nothing on a busy host: bursts that are made again, and waiting for
    a CPU.
    """

    build_s: float = 180.0
    load_s: float = 60.0
    call_s: float = 30.0
    prepare_s: float = 60.0
    total_s: float = 900.0
    lost_s: float = 20.0


@dataclass(frozen=True, slots=True)
class Look:
    """After so many blocks of each case the interval is looked at with this two-sided error."""

    blocks: int
    level: float


@dataclass(frozen=True, slots=True)
class Protocol:
    """The measuring rules of a campaign. Results under different protocols are not comparable.

    version: 1 measures all blocks, 2 may end at a look, 3 goes on while nothing is decided. Rules
    are stored with their looks, so a campaign of an earlier version goes on as it began.
    blocks: A B B A blocks per case, two paired samples each (R11 asks for at least five pairs).
    burst_ms: the least difference between a long and a short burst, in milliseconds.
    max_slots: the most calls in one burst; each has its own input and output.
    arena_mib: the most memory one runner's slots may take.
    trials: correctness runs on fresh seeds before anything is timed (R15).
    require_sanitizers: whether nothing is accepted that a sanitizer of its backend did not look at.
    looks: when a comparison is looked at and may end; those after the last of its blocks are for
    what is undecided by then. Without any it has all blocks and one interval. A lone arm ends at
    the first.
    """

    version: int = 1
    blocks: int = 5
    burst_ms: float = 20.0
    max_slots: int = 4096
    arena_mib: int = 36864
    trials: int = 5
    limits: Limits = field(default_factory=Limits)
    require_sanitizers: bool = False
    looks: tuple[Look, ...] = ()

    @property
    def blocks_alone(self) -> int:
        """The blocks of an arm that is compared with nothing."""
        return self.looks[0].blocks if self.looks else self.blocks


@dataclass(frozen=True, slots=True)
class Job:
    """One evaluation to do.

    rivals: further candidates of the same backend, each compared with the same incumbent.
    device: "cpu" or "cuda:<index>". target: what compilers build for ("native", "sm_90a", ...).
    incumbent: the other arm of the A B B A comparison; None measures the candidate alone.
    incumbent_backend: where it is another one than the candidate's; "" is the same.
    timed: False stops after the correctness check. sanitize: run the candidate under sanitizers on
    its smallest case instead, and nothing else (campaigns/evaluator/sanitizers). read_code: build
    it and list its "machine" code or "ptx" instead (campaigns/evaluator/machine_code), run nothing.
    counters: of the device's profiler; the candidate is run under it on its one case instead, and
    they are counted (campaigns/evaluator/profile).
    stream: what is done with the variants that follow it, a `Stream`; the candidate is then what
    they are variants of, and nothing else is done.
    repeats: whether a candidate that may be faster is measured on inputs that it has seen (R20).
    own_kernels: names that count as a candidate's own kernels though its text does not show them.
    noise_floor: the least gain (a fraction) that counts; it may end a comparison, and decides none.
    builds: of a stream, the folder of what is built. shipped: whether the problem's code came with
    kopt; any other is foreign.
    """

    job_id: str
    problem: Path
    backend: str
    device: str
    target: str
    cases: tuple[Case, ...]
    candidate: Source
    scratch: Path
    incumbent: Source | None = None
    incumbent_backend: str = ""
    rivals: tuple[Source, ...] = ()
    protocol: Protocol = field(default_factory=Protocol)
    timed: bool = True
    sanitize: bool = False
    read_code: str = ""
    counters: tuple[str, ...] = ()
    repeats: bool = True
    own_kernels: tuple[str, ...] = ()
    noise_floor: float = 0.01
    stream: str = ""
    builds: Path = Path()
    shipped: bool = False
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        if self.rivals and self.incumbent is None:
            raise ContractError("rivals: accepted: none without an incumbent")

    @property
    def contenders(self) -> dict[str, Source]:
        """The candidate and its rivals, by the names of their arms."""
        rivals = {f"{RIVAL} {n}": source for n, source in enumerate(self.rivals, 1)}
        return {CANDIDATE: self.candidate, **rivals}

    @property
    def arms(self) -> dict[str, tuple[str, Source]]:
        """Arm → backend and source: the contenders and, where there is one, the incumbent."""
        found = {name: (self.backend, source) for name, source in self.contenders.items()}
        if self.incumbent is not None:
            found[INCUMBENT] = (self.incumbent_backend or self.backend, self.incumbent)
        return found

    @property
    def total_s(self) -> float:
        """The most seconds of it all: each contender may take as long as it may alone."""
        return self.protocol.limits.total_s * (1 + len(self.rivals))
