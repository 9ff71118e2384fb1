"""What crosses the border between the web side and the measuring side.

A `Job` goes in as one JSON file, a `Report` comes out as another; nothing else is shared. Both are
frozen values with a schema number, so a web server and a GPU worker of different versions refuse
each other instead of misreading. Standard library only: this module is imported on both sides.
"""

from __future__ import annotations

import json
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

SCHEMA = 1

Param = int | float | str | bool


class ContractError(ValueError):
    """A job or report file that this version cannot read; the message names the field."""


class Outcome(StrEnum):
    """What happened to a candidate. A fact, never a judgement (that is a Verdict)."""

    PASSED = "passed"
    BUILD_FAILED = "build_failed"
    WRONG_RESULT = "wrong_result"
    CHEATED = "cheated"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    BROKEN_HOST = "broken_host"


class Phase(StrEnum):
    """Where an evaluation was; each phase has its own time limit in the protocol."""

    START = "start"
    BUILD = "build"
    LOAD = "load"
    CHECK = "check"
    PREPARE = "prepare"
    BURST = "burst"
    DONE = "done"


class Timer(StrEnum):
    """How the timed calls were issued."""

    CALLS = "calls"  # CPU: one call after the other, synchronous by nature
    GRAPH = "graph"  # GPU: one captured CUDA graph over all slots
    LOOP = "loop"  # GPU: a plain loop, because the candidate cannot be captured
    NONE = "none"  # judged for correctness only (Triton's interpreter)


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
    """Wall-clock limits per phase, in seconds (rule R16)."""

    build_s: float = 180.0
    load_s: float = 60.0
    call_s: float = 30.0
    prepare_s: float = 60.0
    total_s: float = 900.0


@dataclass(frozen=True, slots=True)
class Protocol:
    """The measuring rules of a campaign. Results under different protocols are not comparable.

    blocks: A B B A blocks per case, two paired samples each (R11 asks for at least five pairs).
    burst_ms: the least difference between a long and a short burst, in milliseconds.
    max_slots: the most calls in one burst; each has its own input and output.
    arena_mib: the most memory one runner's slots may take.
    trials: correctness runs on fresh seeds before anything is timed (R15).
    """

    version: int = 1
    blocks: int = 5
    burst_ms: float = 5.0
    max_slots: int = 4096
    arena_mib: int = 16384
    trials: int = 5
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Job:
    """One evaluation to do.

    device: "cpu" or "cuda:<index>". target: what compilers build for ("native", "sm_90a", ...).
    incumbent: the other arm of the A B B A comparison; None measures the candidate alone.
    timed: False stops after the correctness check. sanitize: run the candidate under sanitizers on
    its smallest case instead, and nothing else (campaigns/evaluator/sanitizers).
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
    protocol: Protocol = field(default_factory=Protocol)
    timed: bool = True
    sanitize: bool = False
    schema: int = SCHEMA


@dataclass(frozen=True, slots=True)
class Launch:
    """How the longest kernel of a call was launched, as the driver's tracer says in the runner.

    The runner could forge it: it informs people, and nothing is decided by it. kernels: launches in
    one call. grid, block: along x, y and z. shared_bytes: of one block. occupancy_percent: threads
    at once on a multiprocessor over the most that it takes, as estimated in whole numbers (0: less
    than 1 %); None where not told.
    """

    kernels: int
    grid: tuple[int, ...]
    block: tuple[int, ...]
    registers: int
    shared_bytes: int
    occupancy_percent: int | None = None


@dataclass(frozen=True, slots=True)
class OwnKernel:
    """A kernel that the arm's own source defines. launches, device_us: per call; 0 never ran."""

    name: str
    launches: float
    device_us: float


@dataclass(frozen=True, slots=True)
class Traced:
    """What ran on the device in the traced calls, as the driver's tracer says in the runner.

    The runner could forge it: it may raise a doubt, and nothing is accepted by it. own: kernels by
    the names in the source. other_us: device µs per call of everything else; filling_us of that
    only sets memory to one value, which computes nothing.
    """

    own: tuple[OwnKernel, ...]
    other_us: float
    filling_us: float


@dataclass(frozen=True, slots=True)
class Timing:
    """Per-call times of one arm on one case, in microseconds, in the order they were taken.

    Every sample is the slope between a long and a short burst on the judge's clock.
    device_us: device time per call as the driver's tracer counts it; None where there is none.
    device_samples_us: the same once per sample, kept where LOOP is the timer and this decides.
    event_us: time per call between two device events around one burst.
    launch: how the work was split; None where there is no launch to see.
    traced: which kernels ran, and how long; None where nothing was traced.
    warm_us: a call whose inputs and outputs lie in the last-level cache; None where they do not fit
    or nobody asked. eager_us: a call launched by itself, where samples are of a GRAPH.
    """

    samples_us: tuple[float, ...]
    long_calls: int
    short_calls: int
    timer: Timer
    device_us: float | None = None
    device_samples_us: tuple[float, ...] = ()
    event_us: float | None = None
    launch: Launch | None = None
    traced: Traced | None = None
    warm_us: float | None = None
    eager_us: float | None = None


@dataclass(frozen=True, slots=True)
class CaseReport:
    """What was found on one case.

    margin: worst error as a share of its tolerance, by element or by norm; over 1 is wrong.
    norm_error: |error| / |answer|, the worst of all calls.
    repeat_margin: how far two answers to the same inputs were apart, as a share of the tolerance;
    0 when they were equal bit by bit. It is measured, not forbidden.
    candidate, incumbent: samples of equal index are one pair of the A B B A schedule.
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
class Report:
    """All facts of one evaluation. Timings exist only where every case was correct.

    surroundings: in the order in which they were looked at; empty where nothing was timed.
    sanitized: one for each sanitizer that was asked for.
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
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        strange = {moment.case for moment in self.surroundings} - {c.case for c in self.cases}
        if strange:
            raise ContractError(f"surroundings: case {min(strange)!r} is not in the report")
        timed = any(case.candidate is not None for case in self.cases)
        if timed and self.outcome is not Outcome.PASSED:
            raise ContractError(f"outcome: {self.outcome} may not carry timings; only passed may")


def dump(value: Job | Report) -> str:
    """Serialise to JSON; non-finite floats are refused because JSON has none."""
    return json.dumps(asdict(value), default=str, allow_nan=False, indent=1)


def load_job(text: str) -> Job:
    """Read a job file. Raises ContractError naming the field."""
    return typing.cast(Job, _load(Job, text))


def load_report(text: str) -> Report:
    """Read a report file. Raises ContractError naming the field."""
    return typing.cast(Report, _load(Report, text))


def load_sanitized(text: str) -> tuple[Sanitized, ...]:
    """Read what `json.dumps` made of such values. Raises ContractError naming the field."""
    return typing.cast(
        tuple[Sanitized, ...], _convert(tuple[Sanitized, ...], json.loads(text), "sanitized")
    )


def protocol_from(value: Mapping[str, Any]) -> Protocol:
    """Rebuild a stored protocol. Raises ContractError naming the field."""
    return typing.cast(Protocol, _build(Protocol, value, "protocol"))


def _load(kind: type, text: str) -> Any:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ContractError(f"line {error.lineno}: not JSON: {error.msg}") from None
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        found = value.get("schema") if isinstance(value, dict) else type(value).__name__
        raise ContractError(f"schema: found {found!r}, this version reads {SCHEMA}")
    return _build(kind, value, "")


def _build(kind: type, value: Any, at: str) -> Any:
    if not isinstance(value, Mapping):
        raise ContractError(f"{at or kind.__name__}: expected an object, got {value!r:.60}")
    hints = typing.get_type_hints(kind)
    known = {f.name for f in fields(kind)}
    for name in value:
        if name not in known:
            raise ContractError(f"{at}.{name}: unknown field; accepted: {', '.join(sorted(known))}")
    built = {name: _convert(hints[name], item, f"{at}.{name}") for name, item in value.items()}
    try:
        return kind(**built)
    except TypeError as error:
        raise ContractError(f"{at or kind.__name__}: {error}") from None


def _convert(hint: Any, value: Any, at: str) -> Any:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in args:
            return None
        rest = [arg for arg in args if arg is not type(None)]
        return _convert(rest[0], value, at) if len(rest) == 1 else value
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise ContractError(f"{at}: expected a list, got {value!r:.60}")
        return tuple(_convert(args[0], item, f"{at}[{i}]") for i, item in enumerate(value))
    if is_dataclass(hint):
        return _build(typing.cast(type, hint), value, at)
    if origin is not None or hint is Any:
        return value
    return _scalar(hint, value, at)


def _scalar(hint: type, value: Any, at: str) -> Any:
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if issubclass(hint, StrEnum | Path):
        try:
            return hint(value)
        except (ValueError, TypeError):
            raise ContractError(f"{at}: {value!r:.60} is not a {hint.__name__}") from None
    if not isinstance(value, hint) or (hint is int and isinstance(value, bool)):
        raise ContractError(f"{at}: expected {hint.__name__}, got {value!r:.60}")
    return value
