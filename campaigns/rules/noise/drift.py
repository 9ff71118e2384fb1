"""Whether device and host stayed the same during a measurement. If not, it is void (R7, R11).

A void measurement allows no conclusion on its candidate: it is recorded and repeated. Interleaving
cancels slow changes and the median short ones, so only five things void a measurement: the
incumbent's own times moved to another level and stayed there; the device was throttled or shared;
the host became busier and the incumbent's times rose with it; others kept a CPU host crowded; or
the incumbent's own times scattered so much that nothing could be decided. The candidate's times are
not used: a candidate must not be able to trigger its own repetition.

On a crowded CPU it does not help that the times of one kernel are steady. A kernel of one thread
still has its CPU, and one of several threads waits for the last of them all the time.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache

from campaigns.evaluator.contract import CaseReport, Moment, Report, Timer
from campaigns.evaluator.contract.looks import ERROR, mean_interval
from campaigns.evaluator.contract.report import CROWDED
from campaigns.rules.wording import WordedEnum, change, digits, duration, share

# With fewer samples no split is unlikely enough by chance; a screening has fewer and decides
# nothing.
LEAST_SAMPLES = 8
# A warm-up affects one or two samples; so few cannot be distinguished from outliers.
LEAST_SIDE = 3
# A level must be this unlikely by chance alone (exact rank sum, whatever the noise looks like): of
# 10 samples cut into 5 and 5, all of one side below the other or one swap from it.
CHANCE = 0.02
# The step must also stand out of the scatter on both sides: heavy-tailed
# stationary samples are often ordered by chance, but then they scatter as much as they step.
SEPARATION = 3.0
# Below this the paired median stands anyway (at most one pair straddles the step): ten times what
# an idle GPU scatters by, and the size from which a gain counts as a success.
LEAST_SHIFT = 0.05
# A boost clock wanders by a step of 15 MHz or two; 5 % is several steps, seen in the times as 5 %.
LEAST_CLOCK_FALL = 0.05
# Half a CPU, a tenth and a third of the time: what a cron job does is less, a second job is more.
LEAST_OTHERS, LEAST_STOLEN, LEAST_PRESSURE = 0.5, 0.10, 0.33
# How far a measurement may exceed the changes that a passport recorded.
SLACK = 2.0
SPREADS = 3.0

# Some kernels always run under a power cap or sync boost; the clock shows their cost.
HELD_DOWN = frozenset({"hardware slowdown", "heat (software)", "heat (hardware)", "power brake"})


class What(WordedEnum):
    """What changed during a measurement."""

    TIMES = "times", "the incumbent's own times moved"
    CLOCK = "clock", "the clock fell"
    THROTTLED = "throttled", "the clock was throttled"
    NEIGHBOUR = "neighbour", "another process started to compute on the device"
    HOST = "host", "the host became busier and the incumbent's times rose with it"
    LOAD = "load", "others kept the host busy"
    UNDECIDED = "undecided", "the incumbent's own times scattered so much that nothing is decided"


# What ends with the load of the host; on a CPU moved times are load as well.
OF_LOAD = frozenset({What.HOST, What.LOAD})


@dataclass(frozen=True, slots=True)
class Change:
    """How far something changed within one session: the largest of its cases.

    clock_fall: fraction. others: CPUs. stolen, pressure: share of the time.
    """

    clock_fall: float = 0.0
    others: float = 0.0
    stolen: float = 0.0
    pressure: float = 0.0


@dataclass(frozen=True, slots=True)
class Allowance:
    """The allowed change. shift: of the incumbent's times, a fraction; the rest as in Change.

    throttled: throttle reasons that this device shows even in an A/A run.
    """

    shift: float = LEAST_SHIFT
    most: Change = Change(LEAST_CLOCK_FALL, LEAST_OTHERS, LEAST_STOLEN, LEAST_PRESSURE)
    throttled: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Disturbance:
    """One reason why a measurement is void, with its numbers."""

    what: What
    case: str
    found: str
    limit: str

    def __str__(self) -> str:
        return f"{self.case}: {self.what.words} ({self.found}; allowed: {self.limit})"


@dataclass(frozen=True, slots=True)
class LevelShift:
    """A move from one level to another. before_us, after_us: medians; at: samples before it."""

    before_us: float
    after_us: float
    at: int
    scatter: float

    @property
    def shift(self) -> float:
        """Shift as a fraction of the level before; negative where times fell."""
        return self.after_us / self.before_us - 1

    @property
    def log(self) -> float:
        """The shift as a logarithm: twice and half as long are equally far."""
        return math.log(self.after_us / self.before_us)


def allowance(
    spread: float, seen: Change | None = None, throttled: frozenset[str] = frozenset()
) -> Allowance:
    """The allowance after an A/A run with this spread (a fraction) and these changes."""
    least, seen = Allowance().most, seen or Change()
    most = {
        f.name: max(getattr(least, f.name), SLACK * getattr(seen, f.name)) for f in fields(Change)
    }
    return Allowance(max(LEAST_SHIFT, SPREADS * spread), Change(**most), throttled)


def drifts(report: Report, allowed: Callable[[CaseReport], Allowance]) -> tuple[Disturbance, ...]:
    """Why this measurement is void; empty if it is valid. allowed: per case."""
    if report.host_busy:
        return (Disturbance(What.LOAD, "every case", report.reason, "what leaves the judge a CPU"),)
    found: list[Disturbance] = []
    cpus = _cpus_of(report)
    for case in report.cases:
        if case.candidate is None:
            continue
        moments = [moment for moment in report.surroundings if moment.case == case.case]
        limits = allowed(case)
        found += _of_device(case, moments, limits)
        if on_gpu(case):
            found += _of_times(case, limits)
        elif (taken := _taken(moments, cpus)) >= CROWDED:
            took = f"they had {share(taken)} of its CPUs"
            found.append(Disturbance(What.LOAD, case.case, took, f"less than {share(CROWDED)}"))
        else:
            found += _of_times(case, limits) or _of_host(case, moments, limits)
    return tuple(found)


def undecided_by(report: Report, floor: float) -> tuple[Disturbance, ...]:
    """The incumbent's own noise, if it alone can leave a comparison undecided; else empty.

    Even a candidate as steady as the incumbent could not be told from it then. All times have to be
    above zero. floor: the least gain that counts, a fraction.
    """
    arms = [case.incumbent.samples_us for case in report.cases if case.incumbent]
    means = [statistics.fmean(map(math.log, column)) for column in zip(*arms, strict=False)]
    found = mean_interval(means, report.level or ERROR)
    reach = math.expm1(math.sqrt(2) * (found.high - found.mean))
    if reach <= floor:
        return ()
    seen = f"no change under {share(reach)} can be told"
    return (Disturbance(What.UNDECIDED, "all cases", seen, share(floor)),)


def taken_by_others(report: Report) -> float:
    """The share of a CPU host that others, and the hypervisor, had meanwhile; 0 on a GPU."""
    gpu = any(map(on_gpu, report.cases))
    return 0.0 if gpu else _taken(report.surroundings, _cpus_of(report))


def _cpus_of(report: Report) -> int | None:
    cores = report.environment.get("cores", "")
    return int(cores) if cores.isdigit() else None


def _taken(moments: Sequence[Moment], cpus: int | None) -> float:
    others, stolen = _seen(moments, "others"), _seen(moments, "stolen")
    by_others = statistics.fmean(others) / cpus if others and cpus else 0.0
    return by_others + (statistics.fmean(stolen) if stolen else 0.0)


def change_within(moments: Sequence[Moment]) -> Change:
    """How far the surroundings of one case changed, from the first half of its blocks to the last.

    The clock: from the first block to its lowest.
    """
    clocks = _clocks(moments)
    fall = max(0.0, 1 - min(clocks) / clocks[0]) if clocks and clocks[0] > 0 else 0.0
    rises = []
    for name in ("others", "stolen", "pressure"):
        halves = _halves(moments, name)
        rises.append(max(0.0, halves[1] - halves[0]) if halves else 0.0)
    return Change(fall, *rises)


def on_gpu(case: CaseReport) -> bool:
    """Whether this case ran on a GPU."""
    return case.candidate is not None and case.candidate.timer in (Timer.GRAPH, Timer.LOOP)


def step_in(times_us: Sequence[float], least: float) -> LevelShift | None:
    """The clearest move to another level that is larger than `least`; None where there is none."""
    steps = []
    for at in range(LEAST_SIDE, len(times_us) - LEAST_SIDE + 1):
        first, last = times_us[:at], times_us[at:]
        if min(times_us) <= 0 or rank_chance(first, last) > CHANCE:
            continue
        step = _step(first, last)
        if abs(step.log) > max(SEPARATION * step.scatter, math.log1p(least)):
            steps.append(step)
    return max(steps, key=lambda step: abs(step.log) / max(step.scatter, 1e-9), default=None)


def _step(first: Sequence[float], last: Sequence[float]) -> LevelShift:
    before, after = statistics.median(first), statistics.median(last)
    apart = [abs(math.log(value / before)) for value in first]
    apart += [abs(math.log(value / after)) for value in last]
    return LevelShift(before, after, len(first), statistics.fmean(apart))


def rank_chance(first: Sequence[float], last: Sequence[float]) -> float:
    """The probability that chance orders two sides at least as well (exact rank sum, two-sided).

    Equal values count as half a swap each, rounded up.
    """
    above = math.fsum((b > a) + (b == a) / 2 for a in first for b in last)
    swaps = math.ceil(min(above, len(first) * len(last) - above))
    ways = math.fsum(_orders(count, len(first), len(last)) for count in range(swaps + 1))
    return min(1.0, 2 * (ways / math.comb(len(first) + len(last), len(first))))


@cache
def _orders(swaps: int, first: int, last: int) -> int:
    """The number of orders of two sides with exactly this many swapped pairs."""
    if swaps < 0:
        return 0
    if first == 0 or last == 0:
        return int(swaps == 0)
    # The largest value is of the last side, or of the first and then swapped with all the last.
    return _orders(swaps, first, last - 1) + _orders(swaps - last, first - 1, last)


def _of_times(case: CaseReport, limits: Allowance) -> list[Disturbance]:
    times = case.incumbent.samples_us if case.incumbent else ()
    step = step_in(times, limits.shift) if len(times) >= LEAST_SAMPLES else None
    if step is None:
        return []
    return [Disturbance(What.TIMES, case.case, _move(step, len(times)), share(limits.shift))]


def _of_device(
    case: CaseReport, moments: Sequence[Moment], limits: Allowance
) -> Iterator[Disturbance]:
    fall, most = change_within(moments).clock_fall, limits.most.clock_fall
    if fall > most:
        clocks = _clocks(moments)
        found = f"{clocks[0]:,.0f} to {min(clocks):,.0f} MHz, {share(fall)}"
        yield Disturbance(What.CLOCK, case.case, found, share(most))
    reasons = {reason for moment in moments for reason in moment.throttled}
    if new := sorted(reasons & HELD_DOWN - limits.throttled):
        usual = ", ".join(sorted(limits.throttled)) or "nothing"
        yield Disturbance(What.THROTTLED, case.case, ", ".join(new), usual)
    counts = [moment.others for moment in moments if moment.others is not None]
    if on_gpu(case) and counts and max(counts) > counts[0]:
        found = f"{counts[0]:g} other processes, then {max(counts):g}"
        yield Disturbance(What.NEIGHBOUR, case.case, found, "none that was not there before")


def _of_host(case: CaseReport, moments: Sequence[Moment], limits: Allowance) -> list[Disturbance]:
    """A busier host counts only if the times rose with it."""
    times = case.incumbent.samples_us if case.incumbent else ()
    if len(times) < LEAST_SAMPLES or min(times) <= 0:
        return []
    half = len(times) // 2
    step = _step(times[:half], times[half:])
    if step.shift <= limits.shift or step.log <= step.scatter:
        return []
    seen, most, moved = change_within(moments), limits.most, _move(step, len(times))
    found = []
    if seen.others > most.others:
        told = f"others used {digits(seen.others, 2)} CPUs more"
        found.append((told, digits(most.others, 2)))
    if seen.stolen > most.stolen:
        told = f"{share(seen.stolen)} more of the time was stolen"
        found.append((told, share(most.stolen)))
    if seen.pressure > most.pressure:
        told = f"tasks waited {share(seen.pressure)} more of the time"
        found.append((told, share(most.pressure)))
    return [Disturbance(What.HOST, case.case, f"{told}, {moved}", limit) for told, limit in found]


def _move(step: LevelShift, samples: int) -> str:
    return (
        f"{duration(step.before_us)} to {duration(step.after_us)} after {step.at} of {samples} "
        f"samples, {change(step.shift)}"
    )


def _clocks(moments: Sequence[Moment]) -> list[float]:
    """In MHz after each block. Before the first one nothing has run, and clocks may be low."""
    return [m.clock_mhz for m in moments if m.block > 0 and m.clock_mhz is not None]


def _halves(moments: Sequence[Moment], name: str) -> tuple[float, float] | None:
    """Means over the first and the last half of the blocks; None without enough data."""
    found = _seen(moments, name)
    half = len(found) // 2
    return (statistics.fmean(found[:half]), statistics.fmean(found[-half:])) if half else None


def _seen(moments: Sequence[Moment], name: str) -> list[float]:
    """The moment before the first block is left out: the judge was checking results until then."""
    return [v for m in moments if m.block > 0 and (v := getattr(m, name)) is not None]
