"""Is a kernel faster on what it has seen before? (R20)

A benchmark that hands the same tensors over and over feeds caches that real use never would. Bursts
that are timed have new contents in every slot, so no such cache gains anything there; but one that
is in the source would be shipped with it. So each arm makes bursts at addresses of their own with
new contents; at the addresses of the burst before with new contents; and then a loop of eight steps
in which the inputs that act as weights keep address and values, and change once, halfway. Every
answer is proven: one to a version that is no more is wrong.

What differs between two patterns is only what the slots hold or where they lie. All slots are
written anew before every burst, so no cache of the hardware makes the one faster than the other.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum

from campaigns.evaluator.contract import Repeats, Timer, Timing
from campaigns.evaluator.judge.arena import Slots
from campaigns.evaluator.judge.correctness.fresh_inputs import Both, Separate, Truth
from campaigns.evaluator.judge.timing.arm_timer import Arm, Turn
from campaigns.evaluator.judge.timing.burst import run_burst
from campaigns.evaluator.judge.timing.stage import SPARE, WARM, Manner, set_up
from campaigns.evaluator.wire import Ask

# Rounds of all patterns; so many in all where the candidate looks faster on what it has seen than
# the incumbent does by this ratio, so that an interval can tell whether that was chance.
ROUNDS, MOST, ODD = 3, 8, 1.05
# A burst has so many calls that waking the runner is little beside them, and no more: who keeps
# only what it saw last is seen best where a burst is one call.
LEAST_S = {"cpu": 1e-3, "cuda": 2e-4}
# Bursts of each of the two patterns without a loop, in a round.
EACH = 2


class Step(Enum):
    """What a burst finds in its slots."""

    FRESH = "at new addresses"
    SAME = "at the same addresses"
    CHANGED = "after a new version of what was kept"
    KEPT = "with the weights of the call before"
    AGAIN = "with all inputs of a call before"


REPEATED = (Step.SAME, Step.KEPT, Step.AGAIN)
# One version of what is kept. The first step of it is a miss, whatever is remembered.
VERSION = (Step.CHANGED, Step.AGAIN, Step.KEPT, Step.KEPT)
WITHOUT_WEIGHTS = (Step.CHANGED, Step.AGAIN, Step.AGAIN, Step.AGAIN)


class Steps:
    """One arm's bursts on one case, whose samples `timing` holds. weights: names of inputs."""

    def __init__(self, arm: Arm, weights: tuple[str, ...], timing: Timing) -> None:
        self._arm = arm
        given = {arg.name for arg in arm.bench.layout.inputs}
        self._weights = tuple(name for name in weights if name in given)
        self._loops = timing.timer is Timer.LOOP
        self._on_gpu = arm.bench.device.type == "cuda"
        # Slots that timed bursts have used: what a first touch of memory takes is nobody's.
        self._reach = timing.long_calls
        call_s = statistics.median(timing.samples_us) / 1e6
        wanted = int(LEAST_S[arm.bench.device.type] / max(call_s, 1e-9)) + 1
        self._calls = max(1, min(wanted, self._reach // 2))
        self._took_us: dict[Step, list[float]] = {step: [] for step in Step}
        self._version: Truth | None = None

    def round(self) -> None:
        """All patterns once; of each what is usual in it is kept."""
        draw = self._arm.bench.supply.draw
        took: dict[Step, list[float]] = {step: [] for step in Step}
        version = VERSION if self._weights else WITHOUT_WEIGHTS
        for step in (*[Step.FRESH] * EACH, *version, *version, *[Step.SAME] * EACH):
            elsewhere = draw.randint(self._calls, self._reach - self._calls)
            took[step].append(self._burst(step, elsewhere if step is Step.FRESH else 0))
        for step, times_us in took.items():
            if times_us:
                # Whatever disturbs a burst makes it longer.
                self._took_us[step].append(statistics.median_low(times_us))

    def ratio(self, step: Step) -> float:
        """Fresh over repeated; 1 where there are no such bursts."""
        took = self._took_us
        pairs = list(zip(took[Step.FRESH], took[step], strict=False))
        return statistics.median(fresh / again for fresh, again in pairs) if pairs else 1.0

    @property
    def found(self) -> Repeats:
        us = {step: tuple(took) for step, took in self._took_us.items()}
        return Repeats(self._calls, us[Step.FRESH], us[Step.SAME], us[Step.KEPT], us[Step.AGAIN])

    def _burst(self, step: Step, first: int) -> float:
        """One burst of `_calls` calls on the slots from `first` on; µs a call."""
        arm, calls = self._arm, self._calls
        slots = arm.slots.part(first, min(calls + SPARE, arm.slots.count - first))
        if not self._on_gpu or step in (Step.FRESH, Step.CHANGED):
            self._lay(first, slots)
        arm.channel.detail = f" ({step.value})"
        # Whatever lies in the caches was written just now, in every pattern.
        manner = Manner(cold=False, inputs=lambda count: self._inputs(step, count))
        seconds = run_burst(arm.bench, arm.channel, slots, calls, manner)
        arm.channel.detail = ""
        return seconds / calls * 1e6

    def _lay(self, first: int, slots: Slots) -> None:
        """Have the runner make its calls on the slots from `first` on, which are `slots`."""
        arm, calls = self._arm, self._calls
        limits = arm.job.protocol.limits
        layout = arm.bench.layout.moved(first)
        arm.channel.ask(Ask.CASE, (layout, calls), limits.load_s)
        if self._on_gpu:
            # The runner tries the burst, which needs inputs that a call may be made on.
            set_up(arm.bench, arm.channel, slots, calls, WARM)
            arm.channel.ask(Ask.PREPARE, (calls, self._loops), limits.prepare_s)

    def _inputs(self, step: Step, count: int) -> Truth:
        bench = self._arm.bench
        # Made in any case: what is drawn goes through the caches that a kernel then finds.
        fresh = bench.supply.fresh(count, bench.refresh)
        if step is Step.AGAIN and self._version is not None:
            return self._version
        if step is Step.KEPT and self._version is not None:
            return Both(self._version, self._weights, fresh)
        if step is Step.CHANGED:
            # A weight is the same in every call, and what calls share is found by one entry.
            same = Separate([bench.supply.example()] * count, self._weights)
            self._version = fresh = Both(same, self._weights, fresh)
        return fresh


def with_repeats(
    turns: Mapping[str, Turn], timings: Mapping[str, Timing], weights: tuple[str, ...]
) -> dict[str, Timing]:
    """Both arms' timings, and what they take on inputs that they have seen. weights: see `Steps`.

    Raises what `Channel.blame` makes of a wrong call.
    """
    found = _compared(
        {name: Steps(turn.arm, weights, timings[name]) for name, turn in turns.items()}
    )
    return {name: replace(timing, repeats=found[name]) for name, timing in timings.items()}


def _compared(arms: Mapping[str, Steps]) -> dict[str, Repeats]:
    """Both arms in turn, and longer where the candidate looks as if it remembers."""
    for n in range(MOST):
        if n == ROUNDS and not any(_is_odd(arms, step) for step in REPEATED):
            break
        # Turned round each time, so that a drift is nobody's.
        for arm in list(arms.values())[:: 1 if n % 2 else -1]:
            arm.round()
    return {name: arm.found for name, arm in arms.items()}


def _is_odd(arms: Mapping[str, Steps], step: Step) -> bool:
    return arms["candidate"].ratio(step) > ODD * arms["incumbent"].ratio(step)
