"""What crosses the border between the web side and the measuring side.

A `Job` goes in as one JSON file, a `Report` comes out as another; nothing else is shared. Both are
frozen values with a schema number, so a web server and a GPU worker of different versions refuse
each other instead of misreading. Standard library only: this module is imported on both sides.
"""

from __future__ import annotations

import json
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
    timed: False stops after the correctness check.
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
    schema: int = SCHEMA


@dataclass(frozen=True, slots=True)
class Timing:
    """Per-call times of one arm on one case, in microseconds, in the order they were taken.

    Every sample is the slope between a long and a short burst on the judge's clock.
    device_us: device time per call as the driver's tracer counts it; None where there is none.
    device_samples_us: the same once per sample, kept where LOOP is the timer and this decides.
    event_us: time per call between two device events around one burst.
    """

    samples_us: tuple[float, ...]
    long_calls: int
    short_calls: int
    timer: Timer
    device_us: float | None = None
    device_samples_us: tuple[float, ...] = ()
    event_us: float | None = None


@dataclass(frozen=True, slots=True)
class CaseReport:
    """What was found on one case.

    margin: worst error as a share of its tolerance; over 1 is wrong.
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


@dataclass(frozen=True, slots=True)
class Report:
    """All facts of one evaluation. Timings exist only where every case was correct."""

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
    schema: int = SCHEMA

    def __post_init__(self) -> None:
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
