"""Is a kernel faster on inputs that it has seen before? (R20)

A benchmark that passes the same tensors repeatedly feeds caches that real use never would. Timed
bursts have new contents in every slot, so such a cache gains nothing there; but it would be shipped
with the source. So each arm makes bursts at new addresses with new contents; at the addresses of
the burst before with new contents; and then a loop of eight steps in which inputs that act as
weights keep address and values, and change once, halfway. In a step with all inputs of a call
before, all its calls have the same, so that a cache of the last call alone is seen. Every answer is
proven: an answer to an outdated version is wrong.

Two patterns differ only in what the slots hold or where they lie. All slots are written before
every burst, so hardware caches favour neither.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum

from campaigns.evaluator.contract import Repeats, Timer, Timing
from campaigns.evaluator.contract.job import INCUMBENT
from campaigns.evaluator.contract.layout import Layout, TensorArg
from campaigns.evaluator.judge.correctness.fresh_inputs import BurstInputs, SeparateInputs
from campaigns.evaluator.judge.timing.arm_timer import Arm, ArmTimer
from campaigns.evaluator.judge.timing.burst import run_burst
from campaigns.evaluator.judge.timing.proof import SPARE, WARM, BurstOptions, Lane, set_up
from campaigns.evaluator.wire import Ask

# Rounds of all patterns; up to MOST while the candidate seems faster on seen inputs by ODD.
ROUNDS, MOST, ODD = 3, 8, 1.05
# A burst has just enough calls that waking the runner is small beside them.
LEAST_S = {"cpu": 1e-3, "cuda": 2e-4}
# Bursts of each pattern without a loop, in a round.
EACH = 2


class SlotContents(Enum):
    """What a burst finds in its slots."""

    FRESH = "at new addresses"
    SAME = "at the same addresses"
    CHANGED = "after a new version of what was kept"
    KEPT = "with the weights of the call before"
    AGAIN = "with all inputs of a call before"


REPEATED = (SlotContents.SAME, SlotContents.KEPT, SlotContents.AGAIN)
# The steps of one version of the weights. The first is a miss for any cache.
VERSION = (SlotContents.CHANGED, SlotContents.AGAIN, SlotContents.KEPT, SlotContents.KEPT)
WITHOUT_WEIGHTS = (SlotContents.CHANGED, SlotContents.AGAIN, SlotContents.AGAIN, SlotContents.AGAIN)


class RepeatBursts:
    """One arm's bursts on one case. timing: its samples. weights: names of inputs."""

    def __init__(self, arm: Arm, weights: tuple[str, ...], timing: Timing) -> None:
        self._arm = arm
        self._given = tuple(arg.name for arg in arm.context.layout.inputs)
        self._weights = tuple(name for name in weights if name in self._given)
        self._loops = timing.timer is Timer.LOOP
        self._on_gpu = arm.context.device.type == "cuda"
        # Only slots that timed bursts have used: a first touch of memory would take extra time.
        self._reach = timing.long_calls
        call_s = statistics.median(timing.samples_us) / 1e6
        wanted = int(LEAST_S[arm.context.device.type] / max(call_s, 1e-9)) + 1
        self._calls = max(1, min(wanted, self._reach // 2))
        self._took_us: dict[SlotContents, list[float]] = {step: [] for step in SlotContents}
        self._version: BurstInputs | None = None

    def round(self) -> None:
        """Make all patterns once; keep the median time of each."""
        draw = self._arm.context.supply.draw
        took: dict[SlotContents, list[float]] = {step: [] for step in SlotContents}
        version = VERSION if self._weights else WITHOUT_WEIGHTS
        most = self._reach - self._calls
        for step in (*[SlotContents.FRESH] * EACH, *version, *version, *[SlotContents.SAME] * EACH):
            # With one slot there is no other place.
            elsewhere = draw.randint(min(self._calls, most), most)
            took[step].append(self._burst(step, elsewhere if step is SlotContents.FRESH else 0))
        for step, times_us in took.items():
            if times_us:
                # The lower median: a disturbance makes a burst longer.
                self._took_us[step].append(statistics.median_low(times_us))

    def ratio(self, step: SlotContents) -> float:
        """Fresh over repeated; 1 where there are no such bursts."""
        took = self._took_us
        pairs = list(zip(took[SlotContents.FRESH], took[step], strict=False))
        return statistics.median(fresh / again for fresh, again in pairs) if pairs else 1.0

    @property
    def found(self) -> Repeats:
        kinds = (SlotContents.FRESH, SlotContents.SAME, SlotContents.KEPT, SlotContents.AGAIN)
        return Repeats(self._calls, *(tuple(self._took_us[kind]) for kind in kinds))

    def _burst(self, step: SlotContents, first: int) -> float:
        """One burst of `_calls` calls on the slots from `first` on; µs a call."""
        arm, calls = self._arm, self._calls
        slots = arm.lane.slots
        slots = slots.part(first, min(calls + SPARE, slots.count - first))
        lane = Lane(arm.context, arm.channel, slots)
        if not self._on_gpu or step in (SlotContents.FRESH, SlotContents.CHANGED):
            # Have the runner make its calls on these slots.
            limits, layout = arm.job.protocol.limits, moved(arm.context.layout, first)
            arm.channel.ask(Ask.CASE, (layout, calls), limits.load_s)
            if self._on_gpu:
                # The runner tries the burst, so its slots must hold valid inputs.
                set_up(lane, calls, WARM)
                arm.channel.ask(Ask.PREPARE, (calls, self._loops), limits.prepare_s)
        arm.channel.detail = f" ({step.value})"
        # Warm: the slots were just written, in every pattern.
        options = BurstOptions(cold=False, inputs=lambda count: self._inputs(step, count))
        seconds = run_burst(lane, calls, options)
        arm.channel.detail = ""
        return seconds / calls * 1e6

    def _inputs(self, step: SlotContents, count: int) -> BurstInputs:
        context = self._arm.context
        # Drawn in every pattern, since drawing changes the caches that a kernel finds.
        fresh = context.supply.fresh(count, context.refresh)
        if step is SlotContents.AGAIN and self._version is not None:
            return self._version
        if step is SlotContents.KEPT and self._version is not None:
            return fresh.with_those(self._weights, self._version)
        if step is SlotContents.CHANGED:
            # All calls of a burst share the version.
            same = SeparateInputs([context.supply.example()] * count, self._given)
            self._version = fresh = fresh.with_those(self._given, same)
        return fresh


def moved(layout: Layout, slots: int) -> Layout:
    """The same layout, with every tensor so many slots further along."""
    bytes_on = slots * layout.stride
    args = (
        replace(arg, offset=arg.offset + bytes_on) if isinstance(arg, TensorArg) else arg
        for arg in layout.args
    )
    return replace(layout, args=tuple(args))


def with_repeats(
    timers: Mapping[str, ArmTimer], timings: Mapping[str, Timing], weights: tuple[str, ...]
) -> dict[str, Timing]:
    """The arms' timings, with what calls take on inputs that they have seen.

    weights: see `RepeatBursts`. Raises what `RunnerChannel.blame` makes of a wrong call.
    """
    arms = {name: RepeatBursts(timer.arm, weights, timings[name]) for name, timer in timers.items()}

    def left() -> dict[str, RepeatBursts]:
        return {name: arm for name, arm in arms.items() if not timers[name].has_left}

    def is_odd(step: SlotContents) -> bool:
        usual = ODD * arms[INCUMBENT].ratio(step)
        return any(arm.ratio(step) > usual for name, arm in left().items() if name != INCUMBENT)

    # The arms in turn, longer where a candidate seems faster on seen inputs.
    for n in range(MOST):
        if n >= ROUNDS and not any(map(is_odd, REPEATED)):
            break
        # The order alternates, so that a drift favours no arm.
        for name, arm in list(left().items())[:: 1 if n % 2 else -1]:
            with timers[name].arm.channel.turn():
                if not timers[name].has_left:
                    arm.round()
    return {name: replace(timings[name], repeats=arm.found) for name, arm in left().items()}
