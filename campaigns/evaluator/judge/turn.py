"""One arm on the judge's clock: its burst lengths, its samples, and what explains them (R10)."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from campaigns.evaluator.backends import base
from campaigns.evaluator.contract import Job, Launch, Outcome, Phase, Timer, Timing, Traced
from campaigns.evaluator.judge.arena import Slots
from campaigns.evaluator.judge.audit import Audit
from campaigns.evaluator.judge.bench import Bench
from campaigns.evaluator.judge.burst import run_burst
from campaigns.evaluator.judge.channel import Channel
from campaigns.evaluator.judge.overhead import Overhead
from campaigns.evaluator.judge.salted import maybe_salted, salted_bursts
from campaigns.evaluator.judge.schedule import (
    Lengths,
    calibrate,
    choose_lengths,
    lengthen,
    shorten,
)
from campaigns.evaluator.judge.stage import WARM, Manner, set_up
from campaigns.evaluator.launch_parts import PARTS, launch_from
from campaigns.evaluator.problem import CheckSpec
from campaigns.evaluator.traced_parts import asked_names, traced_from
from campaigns.evaluator.wire import Ask

# How often one sample is tried; a candidate gains nothing by it, since every try is proven.
RETAKES = 4
# Samples of a time that explains others and decides nothing; their median is kept.
EXPLAINING = 3


@dataclass(frozen=True, slots=True)
class Arm:
    """A runner with its slots of one case.

    most: slots in a burst; why_most: where those are fewer than fit into memory. warm: slots that
    stay in the last-level cache together. overhead: what a burst takes besides its calls. check:
    what is checked of a candidate beyond its case.
    """

    job: Job
    channel: Channel
    bench: Bench
    slots: Slots
    most: int
    why_most: str
    warm: int
    overhead: Overhead
    check: CheckSpec
    notes: list[str]


class Turn:
    """One arm on one case."""

    def __init__(self, arm: Arm) -> None:
        self._arm = arm
        self._audit = Audit(arm.bench, arm.channel, arm.slots, arm.overhead.warm_s)
        self._legal = 0
        self._loops = False
        # The same for all bursts whose times are compared.
        self._breadth = 0
        self.timer = Timer.CALLS
        self._lengths = Lengths(1, 2)
        # Seconds of a call, roughly.
        self.call_s = 0.0
        self.call_s = calibrate(self._prepared_burst, arm.most)
        # What a call takes at the least, by what one alone takes.
        self._alone_us = 0.0
        self._retaken = 0
        self._samples_us: list[float] = []
        self._device_us: list[float] = []
        # What a call takes at the least, by what one alone takes once there are samples.
        self._least_us = 0.0

    @property
    def arm(self) -> Arm:
        return self._arm

    def settle(self, call_s: float) -> None:
        """Have bursts prepared, and looked into, whose calls take about so long."""
        arm = self._arm
        self._settle(choose_lengths(call_s, arm.job.protocol.burst_ms, arm.most))
        if arm.why_most and self._lengths.long == arm.most:
            where = f"case {arm.channel.case}: the {arm.channel.name}'s bursts"
            arm.notes.append(f"{where} have at most {arm.most} calls: {arm.why_most}")

    def as_loop(self) -> None:
        """From now on call by call, as the other arm has to be: a graph would flatter this one."""
        self._loops = True
        self._prepare_lengths()

    def _settle(self, lengths: Lengths) -> None:
        self._lengths = lengths
        self._prepare_lengths()
        self._alone_us = self._audit.begin(self._lengths.long) * 1e6

    def take(self, *, traced: bool) -> None:
        """Measure one sample."""
        arm, lengths = self._arm, (self._lengths.short, self._lengths.long)
        maybe_salted(arm.bench, arm.channel, arm.slots, arm.check, lengths)
        self._audit.maybe_look()
        self._samples_us.append(self._sample_us())
        if traced:
            device_us, _ = self._profile()
            self._device_us.append(device_us or 0.0)

    def close(self) -> None:
        """After the last sample: what shows whether they can be believed."""
        # All of them once, at the end: nobody is careful for a while only.
        arm = self._arm
        salted_bursts(arm.bench, arm.channel, arm.slots, arm.check, self._lengths.long)
        typical_s = statistics.median(self._samples_us) / 1e6
        self._least_us = self._audit.end(typical_s) * 1e6
        self._note_retakes()

    def resume(self) -> None:
        """Go on where `close` was, now that the case is laid out again after others."""
        self._legal = 0
        self._prepare_lengths()

    def timing(self, *, explained: bool) -> Timing:
        """What was measured, and what explains it; the runner is never the same again.

        explained: warm and call by call as well, which takes more bursts.
        """
        warm_us = self._warm_us() if explained else None
        device_us, event_us = self._profile()
        seen = device_us is not None
        return Timing(
            samples_us=tuple(max(taken, self._least_us) for taken in self._samples_us),
            long_calls=self._lengths.long,
            short_calls=self._lengths.short,
            timer=self.timer,
            device_us=device_us,
            device_samples_us=tuple(self._device_us),
            event_us=event_us,
            traced=self._traced() if seen else None,
            launch=self._launch() if seen else None,
            warm_us=warm_us,
            # Last, because there is no way back from it.
            eager_us=self._eager_us() if explained else None,
        )

    def _sample_us(self) -> float:
        """One sample, of bursts that are long enough.

        One whose bursts do not fit each other (something else held the cores during the short one)
        is retaken; when none fits, the last one's least time is the time.
        """
        arm, left, time_us = self._arm, RETAKES, 0.0
        allowed_s = arm.overhead.allowed_s
        while left:
            short_s, long_s = self._pair(cold=True)
            burst_ms = arm.job.protocol.burst_ms
            longer = lengthen(self._lengths, long_s - allowed_s, burst_ms, arm.most)
            if longer is not None:
                self._settle(longer)
                continue
            time_us, fits = self._lengths.time_us(short_s, long_s, allowed_s)
            if fits:
                break
            self._retaken += 1
            left -= 1
        return max(time_us, self._alone_us)

    def _pair(self, *, cold: bool) -> tuple[float, float]:
        """Seconds of a short and of a long burst."""
        # In an order that cannot be known: nobody can tell by turns how long this one will be.
        order = [self._lengths.short, self._lengths.long]
        self._arm.bench.supply.draw.shuffle(order)
        took = {calls: self._burst(calls, cold=cold) for calls in order}
        return took[self._lengths.short], took[self._lengths.long]

    def _explaining_us(self, *, cold: bool) -> float | None:
        pairs = [self._pair(cold=cold) for _ in range(EXPLAINING)]
        return _positive(statistics.median(self._lengths.slope_us(*pair) for pair in pairs))

    def _warm_us(self) -> float | None:
        """With inputs and outputs in the last-level cache; None where fewer than two calls fit."""
        lengths = shorten(self._lengths, self._arm.warm)
        if lengths is None:
            return None
        before, self._lengths = self._lengths, lengths
        self._prepare_lengths()
        found = self._explaining_us(cold=False)
        self._lengths = before
        return found

    def _eager_us(self) -> float | None:
        """Launched call by call instead of as a graph; None where there is no graph."""
        if self.timer is not Timer.GRAPH:
            return None
        self.as_loop()
        return self._explaining_us(cold=True)

    def _prepare_lengths(self) -> None:
        self._breadth = self._lengths.long
        for calls in (self._lengths.short, self._lengths.long):
            self.timer = self._prepare(calls)
        self._arm.channel.phase = Phase.BURST

    def _prepared_burst(self, calls: int) -> float:
        self._prepare(calls)
        self._arm.channel.phase = Phase.BURST
        return self._burst(calls)

    def _prepare(self, calls: int) -> Timer:
        """Have the runner get ready for bursts of `calls`; it tries one."""
        channel, bench = self._arm.channel, self._arm.bench
        if calls > self._legal or any(arg.update for arg in bench.layout.outputs):
            # The runner tries the burst: its slots must hold inputs that a call may be made on, and
            # what the burst before has updated in place may be one no more.
            set_up(bench, channel, self._arm.slots, calls, WARM)
            # Or what the runner does next, which may be traced, shares the device with it.
            bench.wait()
            self._legal = calls
        channel.phase = Phase.PREPARE
        limit_s = self._arm.job.protocol.limits.prepare_s
        reply = channel.ask(Ask.PREPARE, (calls, self._loops), limit_s)
        possible = (Timer.GRAPH, Timer.LOOP) if bench.device.type == "cuda" else (Timer.CALLS,)
        for timer in possible:
            if list(Timer).index(timer) == reply.a:
                return timer
        raise channel.blame(Outcome.CHEATED, f"no such way of timing here ({reply.a})")

    def _burst(self, calls: int, *, cold: bool = True) -> float:
        """Seconds, less what one of that length takes on top for being so long."""
        arm = self._arm
        manner = Manner(cold, self._breadth, rest_s=self._rest_s(calls))
        seconds = run_burst(arm.bench, arm.channel, arm.slots, calls, manner)
        return seconds - arm.overhead.growth.at(seconds)

    def _rest_s(self, calls: int) -> float:
        """By how much a burst is shorter than the long one, on a GPU.

        The longer the judge has only waited there, the slower its processor is to launch the fence.
        """
        if self._arm.bench.device.type != "cuda":
            return 0.0
        fewer = max(0, self._lengths.long - calls)
        return min(fewer * self.call_s, 2e-3 * self._arm.job.protocol.burst_ms)

    def _note_retakes(self) -> None:
        if not self._retaken:
            return
        channel = self._arm.channel
        bursts = "1 burst" if self._retaken == 1 else f"{self._retaken} bursts"
        self._arm.notes.append(
            f"case {channel.case}: {bursts} of the {channel.name} made again: "
            "short ones took longer than their calls and all overhead explain (a busy host?)"
        )

    def _profile(self) -> tuple[float | None, float | None]:
        """(device µs, event µs) per call as the runner's driver says; it informs, no more."""
        if self.timer not in (Timer.GRAPH, Timer.LOOP):
            return None, None
        limit_s = self._arm.job.protocol.limits.prepare_s
        reply = self._arm.channel.ask(Ask.PROFILE, self._lengths.long, limit_s)
        return _positive(reply.x), _positive(reply.y)

    def _launch(self) -> Launch | None:
        """How the runner's driver says that a call is launched; it informs, no more."""
        channel, limit_s = self._arm.channel, self._arm.job.protocol.limits.prepare_s
        first = channel.ask(Ask.LAUNCH, PARTS[0], limit_s)
        if first.a < 1:
            return None
        return launch_from([first, *(channel.ask(Ask.LAUNCH, n, limit_s) for n in PARTS[1:])])

    def _traced(self) -> Traced | None:
        """Which kernels the last profile of this arm saw, by names in its source and in the job."""
        job, channel = self._arm.job, self._arm.channel
        source = job.incumbent if channel.name == "incumbent" else job.candidate
        found = base.get(job.backend).kernels(source.text if source else "")
        names = asked_names(found, job.own_kernels)
        limit_s = job.protocol.limits.prepare_s
        told = [channel.ask(Ask.KERNEL, name, limit_s) for name in ("", *names)]
        return traced_from(names, told, set(job.own_kernels) - set(found))


def _positive(value: float) -> float | None:
    return value if math.isfinite(value) and value > 0 else None
