"""One burst: n calls on n fresh slots between two readings of the judge's clock, each call proven.

Stop the runners, refresh every input, poison every output, wait for the device, start the clock,
let one runner continue, wait until it says done, and at once run the fence: read secret positions
of all outputs. The clock stops when the fence has read them, so work that is still running either
delays the fence or is seen by it. Then, with the clock and the runners stopped, compare every
output with the reference, and check that nothing else has changed. On a GPU the runner is stopped
while it spins on the start signal; on a CPU it finds its question when it continues.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from campaigns.evaluator.judge.timing.probed_burst import ProbedBurst
from campaigns.evaluator.judge.timing.proof import (
    USUAL,
    WARM,
    BurstOptions,
    Lane,
    OutputFence,
    PreparedSlots,
    prove,
    set_up,
)
from campaigns.evaluator.wire import Ask

# A burst in which a stopped process ran is made again. This may happen once to an honest runner
# that the host was slow to stop; it happens every time to one that wakes itself.
ATTEMPTS = 5
# Of an idle burst: it makes no call, and has a fence as any other.
IDLE_SLOTS = 1
# A call of its own, and the slot whose inputs it has before.
ALONE, OTHER = 1, 1


def run_burst(
    lane: Lane, calls: int, options: BurstOptions = USUAL, probed: ProbedBurst | None = None
) -> float:
    """Seconds on the judge's clock for `calls` proven calls of the runner of a lane.

    Raises what `RunnerChannel.blame` makes of a call that is late, wrong, or wrote elsewhere.
    """

    def clock(prepared: PreparedSlots, fence: OutputFence) -> float:
        return _clocked(lane, fence, calls, options.rest_s, probed)

    return _calm(lane, calls, options, clock, probed)


def idle_burst(lane: Lane, *, cold: bool, rest_s: float = 0.0) -> float:
    """Seconds of a burst in which the runner makes no call, with a fence as usual.

    rest_s: see `BurstOptions`.
    """
    context, slots = lane.context, lane.slots
    lane.channel.pose(0, context.limit_s)
    few = min(slots.count, IDLE_SLOTS)
    prepared = set_up(lane, few, USUAL if cold else WARM)
    # On a CPU memory that no burst has used is not mapped yet, and mapping it takes far longer.
    breadth = few if context.device.type == "cpu" else slots.count
    fence = OutputFence(context, slots.part(0, breadth), prepared.truth, few)
    _settle(lane, cold=cold and lane.channel.is_hostile)
    return _clocked(lane, fence, 0, rest_s)


def call_awake(lane: Lane) -> float:
    """Seconds of one proven call of a runner on a CPU that has just made another one.

    A runner that was stopped is slow at first, as its threads sleep and its caches are cold. This
    one stays awake, so the inputs come when the clock already runs: no call can begin before.
    """
    channel, limit_s = lane.channel, lane.context.limit_s

    def clock(prepared: PreparedSlots, fence: OutputFence) -> float:
        slot = prepared.timed
        places = [slot.all(arg) for arg in slot.layout.given]
        inputs = [place.clone() for place in places]
        for arg, place in zip(slot.layout.given, places, strict=True):
            prepared.truth.write(arg, OTHER, place)
        channel.ask(Ask.CALL, 0, limit_s)
        started = time.perf_counter()
        for place, own in zip(places, inputs, strict=True):
            place.copy_(own)
        channel.ask(Ask.BURST, ALONE, limit_s)
        fence.look()
        return time.perf_counter() - started

    return _calm(lane, ALONE, WARM, clock)


def idle_awake(lane: Lane) -> float:
    """Seconds that `call_awake` takes without a call, and without inputs."""
    context, channel, slots = lane.context, lane.channel, lane.slots
    few = min(slots.count, IDLE_SLOTS)
    prepared = set_up(lane, few, WARM)
    fence = OutputFence(context, slots.part(0, few), prepared.truth, few)
    channel.rest_helpers()
    channel.ask(Ask.STAY, 0.0, context.limit_s)
    started = time.perf_counter()
    channel.ask(Ask.BURST, 0, context.limit_s)
    fence.look()
    return time.perf_counter() - started


def _settle(lane: Lane, *, cold: bool) -> None:
    """Finish the judge's work before the runner wakes and could see inputs ahead of the clock."""
    lane.context.wait()
    lane.channel.rest_helpers()
    if cold and lane.context.quiescence is not None:
        lane.context.quiescence.require_quiet(lane.channel)


def _calm(
    lane: Lane,
    calls: int,
    options: BurstOptions,
    clock: Callable[[PreparedSlots, OutputFence], float],
    probed: ProbedBurst | None = None,
) -> float:
    """Seconds by `clock` of a proven burst during which no stopped process has run.

    Sends the runner the order of its next calls, poses the question, stops the runner, makes slots
    and fence ready, and lets all settle.
    """
    context, channel = lane.context, lane.channel
    for _ in range(ATTEMPTS):
        since = time.monotonic()
        order = tuple(context.supply.shuffled(range(calls)))
        channel.ask(Ask.ORDER, order, context.limit_s)
        channel.pose(calls, context.limit_s)
        prepared = set_up(lane, calls, options, order)
        if probed is not None:
            prepared = probed.prepare(prepared)
        part = lane.slots.part(0, max(calls, options.breadth))
        fence = OutputFence(context, part, prepared.truth, calls)
        _settle(lane, cold=options.cold)
        before = channel.restless()
        seconds = clock(prepared, fence)
        other = channel.restless()
        channel.freeze()
        if probed is None:
            prove(prepared, fence)
        else:
            prove(prepared, fence, probed.proven)
            probed.check()
        restless = before or other or channel.restless()
        if restless is None:
            return seconds
        channel.forgive(restless)
        channel.again(time.monotonic() - since)
    channel.accuse(restless or RuntimeError("no attempts"))
    return _calm(lane, calls, options, clock, probed)


def _clocked(
    lane: Lane, fence: OutputFence, calls: int, rest_s: float, probed: ProbedBurst | None = None
) -> float:
    """Seconds from the start signal until the fence has read its positions."""
    channel, context = lane.channel, lane.context
    channel.start_burst(calls)
    channel.rest(rest_s)
    started = time.perf_counter()
    channel.go()
    if probed is not None:
        probed.during(started)
    channel.done(context.limit_s)
    fence.look()
    context.wait()
    return time.perf_counter() - started
