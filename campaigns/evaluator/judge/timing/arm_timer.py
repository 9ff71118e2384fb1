"""One arm on the judge's clock: its burst lengths and its samples."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from campaigns.evaluator.contract import DevicePair, Job, Moment, Outcome, Phase, Timer
from campaigns.evaluator.judge.correctness.case_context import CaseContext
from campaigns.evaluator.judge.integrity.channel import RunnerChannel
from campaigns.evaluator.judge.timing.burst import run_burst
from campaigns.evaluator.judge.timing.mid_burst_probe import MidBurstProbe
from campaigns.evaluator.judge.timing.overhead import Overhead
from campaigns.evaluator.judge.timing.proof import USUAL, WARM, BurstOptions, Lane, set_up
from campaigns.evaluator.judge.timing.schedule import (
    BurstLengths,
    calibrate,
    choose_lengths,
    lengthen,
)
from campaigns.evaluator.wire import Ask, Reply

if TYPE_CHECKING:
    from campaigns.evaluator.contract.problem import CheckSpec

# How often one sample is tried; every try is proven, so a candidate gains nothing by it.
RETAKES = 4
# Bursts of random lengths on a GPU, behind the samples.
CUTS = 4
# What a runner says of a graph is no more than this.
MOST_NODES = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Arm:
    """A runner with its slots of one case.

    most: slots in a burst; why_most: why those are fewer than fit into memory. warm: slots that
    stay in the last-level cache together. overhead: what a burst takes besides its calls. check:
    what is checked of a candidate beyond its case.
    """

    job: Job
    lane: Lane
    most: int
    why_most: str
    warm: int
    overhead: Overhead
    check: CheckSpec
    notes: list[str]

    @property
    def context(self) -> CaseContext:
        return self.lane.context

    @property
    def channel(self) -> RunnerChannel:
        return self.lane.channel

    @property
    def on_cpu(self) -> bool:
        return bool(self.context.device.type == "cpu")


class ArmTimer:
    """Times one arm on one case."""

    def __init__(self, arm: Arm) -> None:
        self.arm = arm
        self._probe = MidBurstProbe(arm.lane, arm.check, arm.overhead)
        self._legal = 0
        self._loops = False
        # The same for all bursts whose times are compared.
        self._breadth = self.nodes = 0
        self.timer = Timer.CALLS
        # Of the bursts from now on.
        self.lengths = BurstLengths(1, 2)
        # CPU time of the last bursts by their calls.
        self._used_s: dict[int, float] = {}
        # Seconds of a call, roughly.
        self.call_s = 0.0
        self.call_s = calibrate(self._prepared_burst, arm.most)
        # The least time of a call, by calls alone; and measured again once there are samples.
        self._alone_us = self._least_us = 0.0
        self._retaken = 0
        # The samples taken so far, on the judge's clock.
        self.samples_us: list[float] = []
        self.device_us: list[float] = []
        # On a CPU: CPU time per call in each of them.
        self.cpu_us: list[float] = []

    def settle(self, call_s: float) -> None:
        """Prepare bursts of calls that take about this long."""
        arm = self.arm
        burst_ms = arm.job.protocol.burst_ms
        self._settle(choose_lengths(call_s, burst_ms, arm.most, on_cpu=arm.on_cpu))
        if arm.why_most and self.lengths.long == arm.most:
            where = f"case {arm.channel.case}: the {arm.channel.role}'s bursts"
            words = f"{where} have at most {arm.most} calls: {arm.why_most}"
            arm.notes.append(words)

    def as_loop(self, lengths: BurstLengths | None = None) -> None:
        """Launch call by call from now on, as the other arm has to: a graph has an advantage.

        lengths: those of the other arm. Device times decide then, and what is traced of few slots
        may lie in the cache.
        """
        self._loops = True
        self.lengths = lengths or self.lengths
        self.prepare_lengths()

    @property
    def has_left(self) -> bool:
        """Whether it has failed, and the others went on."""
        return self.arm.channel.has_left

    def take(self, *, traced: bool) -> None:
        """Measure one sample of an arm that has not left."""
        with self.arm.channel.turn():
            if self.has_left:
                return
            self._probe.maybe()
            self.samples_us.append(self._sample_us())
            if self.arm.on_cpu:
                used_s = (self._used_s[calls] for calls in (self.lengths.short, self.lengths.long))
                self.cpu_us.append(self.lengths.slope_us(*used_s))
            if traced:
                device_us, _ = self.profile()
                self.device_us.append(device_us or 0.0)

    def close(self) -> None:
        """After the last sample: check whether the samples can be believed."""
        self._cut()
        typical_s = statistics.median(self.samples_us) / 1e6
        self._least_us = self._probe.end(typical_s) * 1e6
        if self._retaken:
            channel = self.arm.channel
            bursts = "1 burst" if self._retaken == 1 else f"{self._retaken} bursts"
            self.arm.notes.append(
                f"case {channel.case}: {bursts} of the {channel.role} made again: "
                "short ones took longer than their calls and overhead (a busy host?)"
            )

    def resume(self) -> None:
        """Continue after another case was timed: the slots hold what that one has left."""
        self._legal = 0

    @property
    def believed_us(self) -> tuple[float, ...]:
        """The samples, none shorter than a call's work is."""
        return tuple(max(taken, self._least_us) for taken in self.samples_us)

    def _settle(self, lengths: BurstLengths) -> None:
        self.lengths = lengths
        self.prepare_lengths()
        self._alone_us = self._probe.begin(self.lengths.long) * 1e6

    def _sample_us(self) -> float:
        """One sample, of bursts that are long enough.

        A sample whose bursts do not fit each other is taken again: something else held the cores
        during the short one. When none fits, the last one's least time counts.
        """
        arm, left, time_us = self.arm, RETAKES, 0.0
        allowed_s = arm.overhead.allowed_s
        while left:
            short_s, long_s = self.pair(cold=True)
            burst_ms = arm.job.protocol.burst_ms
            calls_s = long_s - allowed_s
            longer = lengthen(self.lengths, calls_s, burst_ms, arm.most, on_cpu=arm.on_cpu)
            if longer is not None:
                self._settle(longer)
                continue
            time_us, fits = self.lengths.time_us(short_s, long_s, allowed_s)
            if fits:
                break
            self._retaken += 1
            left -= 1
            arm.channel.again(short_s + long_s)
        return max(time_us, self._alone_us)

    def pair(self, *, cold: bool) -> tuple[float, float]:
        """Seconds of a short and of a long burst."""
        # In random order, so that a runner cannot know the length of the next burst.
        order = [self.lengths.short, self.lengths.long]
        self.arm.context.supply.draw.shuffle(order)
        took = {calls: self._burst(calls, cold=cold) for calls in order}
        return took[self.lengths.short], took[self.lengths.long]

    def prepare_lengths(self) -> None:
        """Have the runner prepare short and long bursts."""
        self._breadth = self.lengths.long
        for calls in (self.lengths.short, self.lengths.long):
            self.timer, self.nodes = self._prepare(calls)
        self.arm.channel.phase = Phase.BURST

    def _cut(self) -> None:
        """Prove bursts of random lengths: a call that leaves work for the next is wrong at the end.

        On a CPU a burst's slots come in random order, and a call is also timed alone.
        """
        context = self.arm.context
        for _ in range(CUTS if context.device.type == "cuda" else 0):
            self._prepared_burst(context.supply.draw.randint(1, self.lengths.long))

    def _prepared_burst(self, calls: int) -> float:
        self._prepare(calls)
        self.arm.channel.phase = Phase.BURST
        return self._burst(calls)

    def _prepare(self, calls: int) -> tuple[Timer, int]:
        """Have the runner prepare bursts of `calls`, and try one; the timer and the graph's nodes.

        Of the nodes the runner could say anything.
        """
        channel, context = self.arm.channel, self.arm.context
        # The runner tries the burst.
        self._give_inputs(calls)
        channel.phase = Phase.PREPARE
        reply = self.ask(Ask.PREPARE, (calls, self._loops))
        possible = (Timer.GRAPH, Timer.LOOP) if context.device.type == "cuda" else (Timer.CALLS,)
        for timer in possible:
            if list(Timer).index(timer) == reply.a:
                return timer, int(min(positive(reply.x) or 0, MOST_NODES))
        raise channel.blame(
            Outcome.CHEATED, f"the runner named a timer that this device lacks ({reply.a})"
        )

    def _give_inputs(self, calls: int) -> None:
        """Make the inputs of so many slots valid, where they are not: an index of another case, or
        one that a burst has updated in place, may lie outside of what it indexes.
        """
        context = self.arm.context
        if calls > self._legal or any(arg.update for arg in context.layout.outputs):
            self._fill(calls, WARM)

    def _fill(self, calls: int, options: BurstOptions) -> None:
        set_up(self.arm.lane, calls, options)
        # Otherwise the judge's work would share the device with the runner's, which may be traced.
        self.arm.context.wait()
        self._legal = max(self._legal, calls)

    def _burst(self, calls: int, *, cold: bool = True) -> float:
        """Seconds of a burst, less the overhead that grows with its length.

        On a GPU every burst waits equally long: the longer the judge has waited, the slower its
        processor launches the fence. So it rests for as long as a burst is shorter than the long
        one.
        """
        arm, rest_s = self.arm, 0.0
        if arm.context.device.type == "cuda":
            fewer = max(0, self.lengths.long - calls)
            rest_s = min(fewer * self.call_s, 2e-3 * arm.job.protocol.burst_ms)
        options = BurstOptions(cold, self._breadth, rest_s=rest_s)
        seconds = run_burst(arm.lane, calls, options)
        self._legal = max(self._legal, calls)
        self._used_s[calls] = arm.channel.used_s
        return seconds - arm.overhead.growth.at(seconds)

    def profile(self) -> tuple[float | None, float | None]:
        """(device µs, event µs) per call, measured in the runner; for information only."""
        if self.timer not in (Timer.GRAPH, Timer.LOOP):
            return None, None
        self._give_inputs(self.lengths.long)
        return self._traced()

    def _traced(self) -> tuple[float | None, float | None]:
        reply = self.ask(Ask.PROFILE, self.lengths.long)
        return positive(reply.x), positive(reply.y)

    def beside_trace(self, look: Callable[[], Moment]) -> DevicePair:
        """A timed burst, and a traced one of as many calls behind the same work of the judge."""
        short_s, long_s = self.pair(cold=True)
        timed = look()
        self._fill(self.lengths.long, USUAL)
        device_us, _ = self._traced()
        traced = look()
        burst_us, _ = self.lengths.time_us(short_s, long_s, self.arm.overhead.allowed_s)
        return DevicePair(
            burst_us=burst_us,
            device_us=device_us or 0.0,
            clock_mhz=timed.clock_mhz,
            traced_clock_mhz=traced.clock_mhz,
            power_w=traced.power_w,
            throttled=traced.throttled,
        )

    def ask(self, ask: Ask, body: object) -> Reply:
        """Ask the runner what takes as long as preparing a burst may."""
        return self.arm.channel.ask(ask, body, self.arm.job.protocol.limits.prepare_s)


def positive(value: float) -> float | None:
    return value if math.isfinite(value) and value > 0 else None
