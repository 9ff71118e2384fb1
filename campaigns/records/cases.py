"""Cases as the records have them: class, level, sizes, and one row of times each (R18, R19)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from campaigns.evaluator.contract import CaseReport, CopiedOutput, Report, Timing
from campaigns.evaluator.contract.problem_words import SKEWED, distribution_of
from campaigns.models import Campaign, Case, Event, Round
from campaigns.records.values import gain_facts, picked
from campaigns.rules.noise.gain import Gain
from campaigns.rules.verdict.case_limits import Level, representative
from campaigns.rules.verdict.dispatch import class_of
from campaigns.rules.verdict.gates import decisive_samples
from campaigns.rules.wording import counted, duration


def classes_by_case(cases: Iterable[Case]) -> dict[str, str]:
    """Case → its config class, in their order; empty names without class columns."""
    return {case.name: class_of(case.params, case.problem.config_class) for case in cases}


def taken_by(round_: Round) -> frozenset[str]:
    """The classes that take the specialised kernel of a dispatch split; none in other rounds."""
    return frozenset((round_.split or {}).get("taken", ()))


def runs_of(round_: Round, classes: list[str]) -> dict[str, int]:
    """Class → the number of the round in which its kernel came, for a candidate of this round.

    A source that is no dispatch split runs its own round's kernel in every class; what a source
    that a proposer wrote may choose between is not known.
    """
    stored = (round_.split or {}).get("runs", {})
    return {name: int(stored.get(name, round_.number)) for name in classes}


NO_SPLIT = "no_split"


def cases_of(campaign: Campaign, level: Level) -> tuple[str, ...]:
    """The names of the cases of a level, none of which may be left out."""
    if level is Level.FULL:
        return tuple(map(str, campaign.cases))
    rows = list(campaign.case_rows)
    skewed = [row.name for row in rows if distribution_of(row.params) == SKEWED]
    return representative(classes_by_case(rows), campaign.problem.representative, skewed)


def shapes_of(cases: Iterable[Case]) -> list[dict[str, int]]:
    """The sizes of each case; what describes its values, such as a distribution, is left out."""
    found = ({k: v for k, v in case.params.items() if type(v) is int} for case in cases)
    return [sizes for sizes in found if sizes]


CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class TimeSpread:
    """The median of times in microseconds, with its 95 % interval."""

    median: float
    low: float
    high: float
    n: int


class MeasuredCase(msgspec.Struct, frozen=True):
    """One case of a report: how right, how fast.

    Times are of one call, in µs; None if not taken. gain: between the arms. cpu_us, cores: CPU time
    of a call and how many cores it has kept busy, on a CPU.
    """

    case: str
    time_us: TimeSpread | None = None
    incumbent_us: TimeSpread | None = None
    gain: float | None = None
    gain_low: float | None = None
    gain_high: float | None = None
    correct: bool = False
    checked_calls: int = 0
    max_abs_error: float | None = None
    max_rel_error: float | None = None
    margin: float | None = None
    message: str = ""
    timer: str | None = None
    device_us: float | None = None
    copied: tuple[CopiedOutput, ...] = ()
    incumbent_copied: tuple[CopiedOutput, ...] = ()
    cpu_us: float | None = None
    cores: float | None = None

    def paired(self, kind: str) -> Gain | None:
        """The gain as a value; kind: of its interval."""
        low, high = self.gain_low, self.gain_high
        if self.gain is None or low is None or high is None:
            return None
        return Gain(self.gain, low, high, self.time_us.n if self.time_us else 0, kind)


def spread(samples_us: Sequence[float]) -> TimeSpread:
    """Median with its distribution-free 95 % interval (order statistics), in microseconds.

    Under six samples no such interval exists; low and high are then the extremes.
    """
    ordered = sorted(samples_us)
    n, outside, tail = len(ordered), 0, 0.0
    # How many may be left off at each end.
    for k in range(n // 2):
        tail += math.comb(n, k) / 2**n
        if 2 * tail > 1 - CONFIDENCE:
            break
        outside = k
    return TimeSpread(statistics.median(ordered), ordered[outside], ordered[n - 1 - outside], n)


@dataclass(frozen=True, slots=True)
class CaseQuantiles:
    """Quantiles of a call's time on one case, in µs, with the count of samples; calls: of each.

    warm_us: with inputs and outputs in the last-level cache; device_us: as the driver's tracer
    counts it. None where there is no such figure.
    """

    case: str
    p20_us: float
    p50_us: float
    p80_us: float
    n: int
    calls: int
    timer: str
    warm_us: float | None
    device_us: float | None

    @property
    def words(self) -> str:
        """One line: "p20 2.48 ms, p50 2.50 ms, p80 2.51 ms (n=6, 6 calls each); warm 2.31 ms"."""
        times = {"p20": self.p20_us, "p50": self.p50_us, "p80": self.p80_us}
        told = ", ".join(f"{name} {duration(us)}" for name, us in times.items())
        told += f" (n={self.n}, {counted(self.calls, 'call')} each)"
        more = {"warm": self.warm_us, "on the device": self.device_us}
        return told + "".join(f"; {name} {duration(us)}" for name, us in more.items() if us)


def quantiles_of(case: CaseReport) -> CaseQuantiles | None:
    """Quantiles of the candidate's decisive samples, linear between them; None if not timed."""
    arm = case.candidate
    samples = decisive_samples(case, arm) if arm else ()
    if arm is None or not samples:
        return None
    p20, p50, p80 = (float(at) for at in np.quantile(samples, (0.2, 0.5, 0.8)))
    return CaseQuantiles(
        case=case.case,
        p20_us=p20,
        p50_us=p50,
        p80_us=p80,
        n=len(samples),
        calls=arm.long_calls,
        timer=arm.timer.value,
        warm_us=arm.warm_us,
        device_us=arm.device_us,
    )


def measured_case(case: CaseReport, gain: Gain | None = None) -> MeasuredCase:
    """One case of a report."""
    arm, other = case.candidate, case.incumbent
    compared = gain_facts(gain)
    del compared["pairs"]
    return MeasuredCase(
        **picked(case, "case correct checked_calls max_abs_error max_rel_error margin message"),
        **compared,
        time_us=_timed(case, arm),
        incumbent_us=_timed(case, other),
        **(picked(arm, "device_us cpu_us cores") if arm else {}),
        timer=arm.timer.value if arm else None,
        copied=arm.copied if arm else (),
        incumbent_copied=other.copied if other else (),
    )


def case_rows(cases: Sequence[CaseReport], gains: Mapping[str, Gain]) -> list[dict[str, Any]]:
    """All cases of a report with their gains, as a verdict stores them."""
    rows = [measured_case(case, gains.get(case.case)) for case in cases]
    found: list[dict[str, Any]] = msgspec.to_builtins(rows)
    return found


def class_rows(gains: Mapping[str, Gain], classes: Mapping[str, str]) -> list[dict[str, Any]]:
    """All config classes with their cases and gains. classes: case → class."""
    return [
        {
            "class": name,
            "cases": [case for case, own in classes.items() if own == name],
            **gain_facts(gain),
        }
        for name, gain in gains.items()
    ]


def _timed(case: CaseReport, timing: Timing | None) -> TimeSpread | None:
    return spread(decisive_samples(case, timing)) if timing and timing.samples_us else None


def sample_rows(report: Report | None) -> list[dict[str, Any]]:
    """Rows of case, arm, pair and time_us. pair: from 0; equal ones of both arms belong together.

    arm: candidate, or incumbent for the kernel that it is compared with.
    """
    return [
        {"case": case.case, "arm": arm, "pair": pair, "time_us": time_us}
        for case in (report.cases if report else ())
        for arm, timing in (("candidate", case.candidate), ("incumbent", case.incumbent))
        for pair, time_us in enumerate(timing.samples_us if timing else ())
    ]


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
