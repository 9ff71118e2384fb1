"""What was timed, what the driver's tracer told beside it, and whether the two agree.

Near its power limit a card runs the same kernel 10 % slower a moment later. So clock and tracer are
compared in bursts that take turns, and what both arms show alike is excused. The judge asks this to
measure again before it reports a doubt; the verdict asks it to decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

# Device time leaves out the gaps between kernels, and differs a little from the clock besides.
SLACK = 0.05
# The most µs that launching adds to a call.
LAUNCH_US = 5.0


class Timer(StrEnum):
    """How the timed calls were issued."""

    CALLS = "calls"  # CPU: one call after the other, synchronous by nature
    GRAPH = "graph"  # GPU: one captured CUDA graph over all slots
    LOOP = "loop"  # GPU: a plain loop, because the candidate cannot be captured
    NONE = "none"  # judged for correctness only (Triton's interpreter)


@dataclass(frozen=True, slots=True)
class KernelLaunch:
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
    """A kernel that counts as the arm's own. launches, device_us: per call; 0 never ran.

    declared: its text does not define it; the job says that it counts (`Job.own_kernels`).
    """

    name: str
    launches: float
    device_us: float
    declared: bool = False


@dataclass(frozen=True, slots=True)
class Traced:
    """What ran on the device in the traced calls, as the driver's tracer says in the runner.

    The runner could forge it: it may raise a doubt, and nothing is accepted by it. own: kernels by
    the names in the source and in the job. other_us: device µs per call of everything else;
    filling_us of that only sets memory to one value, which computes nothing.
    """

    own: tuple[OwnKernel, ...]
    other_us: float
    filling_us: float


@dataclass(frozen=True, slots=True)
class CopiedOutput:
    """An output into which each timed call copies an answer that it has already.

    So says the runner, which could forge it: it informs people, and nothing is decided by it.
    """

    name: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class Repeats:
    """Bursts of `calls` calls by what they found in memory, in µs a call with all overhead (R20).

    Times of equal index are of one round, and each is what was usual in it.
    fresh_us: contents that are new, at other addresses than the burst before. same_us: new ones at
    its addresses. kept_us: new ones at its addresses, but the inputs that act as weights are as
    they were; empty where the problem names none. again_us: everything as it was.
    """

    calls: int
    fresh_us: tuple[float, ...]
    same_us: tuple[float, ...]
    kept_us: tuple[float, ...]
    again_us: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class DevicePair:
    """One burst on the judge's clock and one traced burst of as many calls, right after each other.

    Times in µs a call. clock_mhz, traced_clock_mhz: of the multiprocessors behind each burst;
    power_w, throttled: of the card behind the traced one. None where the card does not tell.
    """

    burst_us: float
    device_us: float
    clock_mhz: float | None = None
    traced_clock_mhz: float | None = None
    power_w: float | None = None
    throttled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Timing:
    """Per-call times of one arm on one case, in microseconds, in the order they were taken.

    Every sample is the slope between a long and a short burst on the judge's clock.
    nodes: of the graph of a long burst, as the runner says; 0 where it is none.
    device_us: device time per call as the driver's tracer counts it; None where there is none.
    device_pairs: bursts in turn with traced ones, in the same state of the card; empty where no
    gain has to be explained, None in reports that are older.
    device_samples_us: the same once per sample, kept where LOOP is the timer and this decides.
    event_us: time per call between device events behind bursts that follow each other.
    launch: how the work was split; None where there is no launch to see.
    traced: which kernels ran, and how long; None where nothing was traced.
    warm_us: a call whose inputs and outputs lie in the last-level cache; None where they do not fit
    or it was not asked for. eager_us: a call launched by itself, where samples are of a GRAPH.
    repeats: what it takes on inputs that it has seen; None where no other arm was beside it.
    copied: what a call copies for the judge's sake, which one that takes a returned tensor spares.
    cpu_us: CPU time per call of the arm's process and its threads on a CPU, as the judge reads it.
    """

    samples_us: tuple[float, ...]
    long_calls: int
    short_calls: int
    timer: Timer
    device_us: float | None = None
    device_samples_us: tuple[float, ...] = ()
    event_us: float | None = None
    launch: KernelLaunch | None = None
    traced: Traced | None = None
    warm_us: float | None = None
    eager_us: float | None = None
    repeats: Repeats | None = None
    copied: tuple[CopiedOutput, ...] = ()
    nodes: int = 0
    device_pairs: tuple[DevicePair, ...] | None = None
    cpu_us: float | None = None

    @property
    def cores(self) -> float | None:
        """How many cores a call has kept busy."""
        return self.cpu_us / median(self.samples_us) if self.cpu_us else None


def pairs_of(timing: Timing) -> Sequence[tuple[float, float]]:
    """(burst µs, device µs) per call, of bursts in one state; empty where nothing was traced."""
    if timing.device_pairs:
        return [(pair.burst_us, pair.device_us) for pair in timing.device_pairs]
    if timing.timer is Timer.LOOP and len(timing.device_samples_us) == len(timing.samples_us):
        return list(zip(timing.samples_us, timing.device_samples_us, strict=True))
    return [] if timing.device_us is None else [(median(timing.samples_us), timing.device_us)]


def excess_us(timing: Timing, other: Timing | None, launch_us: float = LAUNCH_US) -> float:
    """How far beyond what is allowed burst and device time of one arm disagree; positive fails.

    other: the other arm; what it shows as well is excused. Raises StatisticsError without times.
    """
    device, drift = ratios(timing)
    far = [_beyond(timing, device, drift)]
    if other is not None:
        usual_device, usual_drift = ratios(other)
        far.append(_beyond(timing, device / usual_device, drift / usual_drift))
    burst_us = median(burst for burst, _ in pairs_of(timing))
    return min(far) * burst_us - launch_us - SLACK * burst_us


def ratios(timing: Timing) -> tuple[float, float]:
    """Device time, and the samples that decide, as shares of the time of the bursts beside."""
    pairs = pairs_of(timing)
    beside_us = median(burst for burst, _ in pairs)
    return median(device / burst for burst, device in pairs), median(timing.samples_us) / beside_us


def _beyond(timing: Timing, device: float, drift: float) -> float:
    """drift: below 1 the samples were faster than any burst beside a tracer."""
    # A plain loop also pays for every launch, so only its device time may be the smaller one.
    apart = device - 1 if timing.timer is Timer.LOOP else abs(device - 1)
    return max(apart, 1 - drift)
