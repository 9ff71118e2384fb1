"""What was found: the facts of one evaluation, never a judgement."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from campaigns.evaluator.contract.job import SCHEMA, ContractError, Look
from campaigns.evaluator.contract.timing import Timing

# A CPU host is busy where others use this share of its CPUs: then the judge, the runner and the
# others cannot all have a CPU when they need it, and no time tells anything of any kernel.
CROWDED = 0.25

# Keys of a report's environment: how long the judge had no CPU, how it planned its memory.
WAITED, MEMORY = "waited for a CPU", "memory of the judge"


class Outcome(StrEnum):
    """What happened to a candidate. A fact, never a judgement (that is a Verdict).

    NOT_JUDGED: it builds, and this host cannot say more, for want of its device.
    """

    PASSED = "passed"
    BUILD_FAILED = "build_failed"
    WRONG_RESULT = "wrong_result"
    CHEATED = "cheated"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    BROKEN_HOST = "broken_host"
    NOT_JUDGED = "not_judged"

    @property
    def tells_nothing(self) -> bool:
        """Whether it says nothing of the candidate; another host may say more."""
        return self in (Outcome.BROKEN_HOST, Outcome.NOT_JUDGED)

    @property
    def words(self) -> str:
        """The outcome as people read it."""
        return "not judged here" if self is Outcome.NOT_JUDGED else self.value.replace("_", " ")


class Phase(StrEnum):
    """Where an evaluation was; each phase has its own time limit in the protocol."""

    START = "start"
    BUILD = "build"
    LOAD = "load"
    CHECK = "check"
    PREPARE = "prepare"
    BURST = "burst"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class CaseReport:
    """What was found on one case.

    margin: worst error as a share of its tolerance, by element or by norm; over 1 is wrong.
    norm_error: |error| / |answer|, the worst of all calls.
    repeat_margin: how far two answers to the same inputs were apart, as a share of the tolerance;
    0 when they were equal bit by bit. It is measured, not forbidden.
    candidate, incumbent: samples of equal index are one pair of the A B B A schedule.
    answer_varies: False where the right answer was, within its tolerance, the same in every draw.
    """

    case: str
    correct: bool
    checked_calls: int
    max_abs_error: float | None = None
    max_rel_error: float | None = None
    margin: float | None = None
    message: str = ""
    candidate: Timing | None = None
    incumbent: Timing | None = None
    norm_error: float | None = None
    repeat_margin: float | None = None
    answer_varies: bool = True


@dataclass(frozen=True, slots=True)
class Moment:
    """How device and host stood at one moment of timing; None for what they do not tell.

    case, block: after how many blocks of which case; 0 is before the first.
    clock_mhz: of the multiprocessors, or of the fastest CPU that the judge may run on.
    temperature_c, power_w: of the GPU. throttled: what holds its clock down.
    others: on a GPU the processes that compute on it and are not of this service; on a CPU how
    many CPUs others kept busy since the moment before. load: runnable tasks, average of a minute.
    pressure, stolen: shares of the time since the moment before in which a task had to wait for a
    CPU, and in which the hypervisor gave the CPUs to others.
    """

    case: str
    block: int
    clock_mhz: float | None = None
    temperature_c: float | None = None
    power_w: float | None = None
    throttled: tuple[str, ...] = ()
    others: float | None = None
    load: float | None = None
    pressure: float | None = None
    stolen: float | None = None

    def __post_init__(self) -> None:
        for name in ("block", "clock_mhz", "temperature_c", "power_w", "others", "load"):
            self._require(name, math.inf)
        for name in ("pressure", "stolen"):
            self._require(name, 1.0)

    def _require(self, name: str, most: float) -> None:
        value = getattr(self, name)
        if value is not None and not (math.isfinite(value) and 0 <= value <= most):
            accepted = "a finite number from 0" + ("" if most == math.inf else f" to {most:g}")
            raise ContractError(f"surroundings.{name}: {value!r}; accepted: {accepted}")


@dataclass(frozen=True, slots=True)
class Fault:
    """What a sanitizer saw; line: of the candidate's file `file`, 0 where it is not told."""

    kind: str
    what: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Sanitized:
    """What one sanitizer says; clean is one that ran and has no faults. note: why it did not run,
    or why it had nothing to look for. A candidate could keep it from seeing: clean is no proof.
    """

    tool: str
    ran: bool
    faults: tuple[Fault, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Resources:
    """What a GPU's kernel takes; None for what its listing does not tell.

    registers: of a thread, on AMD its accumulators among them. scalars: of a wave of AMD's.
    spilled: registers that did not fit. stack_bytes: of a thread. shared_bytes, threads: of a
    block.
    """

    registers: int | None = None
    accumulators: int | None = None
    scalars: int | None = None
    spilled: int | None = None
    stack_bytes: int | None = None
    shared_bytes: int | None = None
    threads: int | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """One function of a candidate's machine code.

    kinds: how many of its instructions do what (`campaigns.evaluator.machine_code.kinds.OpKind`).
    calls: how often it calls what, by name; ending in a jump to another function calls it, too.
    widest_load_bytes: of one thread's loads of a GPU's global memory; 0 where there are none.
    widths: of a kind that moves data, how many of its instructions move how many bytes a thread.
    resources: of a GPU's kernel. listing: an instruction a line, with the line of the source (0
    where that is not known) and a tab before it; cut where it is long.
    """

    name: str
    instructions: int
    kinds: Mapping[str, int]
    calls: Mapping[str, int] = field(default_factory=dict)
    widest_load_bytes: int = 0
    widths: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    resources: Resources | None = None
    listing: str = ""

    @property
    def lines(self) -> tuple[tuple[int, str], ...]:
        """The listing as (line of the source, instruction)."""
        rows = (row.partition("\t") for row in self.listing.splitlines())
        return tuple((int(line), text) for line, _, text in rows)


@dataclass(frozen=True, slots=True)
class MachineCode:
    """What a compiler made of a candidate. tool: what read it, and for what it was built. note: why
    there is nothing to read. A candidate's own code may run while it is built: it informs, no more.
    """

    tool: str
    functions: tuple[Function, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """What a profiler counted while a candidate computed one case.

    text, lines: what the tool wrote of so many calls, for `campaigns.profiles` to read. note: why
    there is none. The process held the candidate, so it informs, and no verdict rests on it.
    """

    tool: str
    case: str
    text: str = ""
    calls: int = 1
    note: str = ""
    lines: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """All facts of one evaluation. Timings exist only where every case was correct.

    surroundings: in the order in which they were looked at; empty where nothing was timed.
    sanitized: one for each sanitizer that was asked for. machine_code: None where it was not read.
    profile: None where nothing counted.
    problem_fault: a broken host whose cause is the problem's own folder.
    host_busy: others kept the host busy, so that this outcome says nothing of the candidate.
    looks: those that were taken; measuring ended at the last. Empty where all blocks were measured
    without one.
    rivals: the report of each rival, as if it had been tried alone: its times are `candidate`, and
    those of the incumbent are the same in all.
    """

    job_id: str
    outcome: Outcome
    phase: Phase
    reason: str
    cases: tuple[CaseReport, ...] = ()
    build_log: str = ""
    runner_log: str = ""
    notes: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    wall_s: Mapping[str, float] = field(default_factory=dict)
    surroundings: tuple[Moment, ...] = ()
    sanitized: tuple[Sanitized, ...] = ()
    machine_code: MachineCode | None = None
    profile: Profile | None = None
    problem_fault: bool = False
    looks: tuple[Look, ...] = ()
    host_busy: bool = False
    rivals: tuple[Report, ...] = ()
    schema: int = SCHEMA

    @property
    def level(self) -> float | None:
        """The two-sided error of its intervals; None without looks: then it is 5 %."""
        return self.looks[-1].level if self.looks else None

    def __post_init__(self) -> None:
        names = [case.case for case in self.cases]
        if twice := {name for name in names if names.count(name) > 1}:
            raise ContractError(f"cases: {min(twice)!r} is in the report twice")
        strange = {moment.case for moment in self.surroundings} - set(names)
        if strange:
            raise ContractError(f"surroundings: case {min(strange)!r} is not in the report")
        timed = any(case.candidate is not None for case in self.cases)
        if timed and self.outcome is not Outcome.PASSED:
            raise ContractError(f"outcome: {self.outcome} may not carry timings; only passed may")
