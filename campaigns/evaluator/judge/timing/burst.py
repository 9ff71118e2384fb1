"""One burst: n calls on n fresh slots between two looks at the judge's clock, each one proven.

Stop the runners, refresh every input, poison every output, wait for the device, start the clock,
let the one runner go on, wait for done, and at once run the fence: a look at positions of all
outputs that nobody but the judge knows. The clock stops when the fence has read them, so work that
was left running either delays it or is seen by it. Then, off the clock and with the runners stopped
again: every output against the reference, and nothing else touched. On a GPU the runner was stopped
while it spun for the go, which is there when it goes on; on a CPU it finds its question.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Protocol

from campaigns.evaluator.judge.arena import Slots
from campaigns.evaluator.judge.case_context import Bench
from campaigns.evaluator.judge.channel import Channel
from campaigns.evaluator.judge.integrity.proof import prove
from campaigns.evaluator.judge.timing.fence import Fence
from campaigns.evaluator.judge.timing.stage import USUAL, WARM, Manner, Stage, set_up
from campaigns.evaluator.wire import Ask

# A burst in which somebody ran who was stopped says nothing and is made again. That may happen once
# to an honest one, which the host held up on its way to rest; who lets itself go on does it always.
ATTEMPTS = 5
# How many slots are made ready for an idle burst.
IDLE_SLOTS = 4


class Probed(Protocol):
    """What the judge does with a burst besides taking its time.

    proven: slots whose answers `check` compares.
    """

    proven: Mapping[int, object]

    def prepare(self, stage: Stage) -> Stage:
        """Before the runner is let go on; what its slots hold may be exchanged."""

    def during(self, started: float) -> None:
        """After go, which was at `started` on the judge's clock (`time.perf_counter`)."""

    def check(self) -> None:
        """After the burst, with the runners stopped."""


def run_burst(
    bench: Bench,
    channel: Channel,
    slots: Slots,
    calls: int,
    manner: Manner = USUAL,
    probed: Probed | None = None,
) -> float:
    """Seconds on the judge's clock for `calls` proven calls of the runner behind `channel`.

    Raises what `Channel.blame` makes of a call that is late, wrong or touched what is not its own.
    """
    for _ in range(ATTEMPTS):
        stage, fence = _ready(bench, channel, slots, calls, manner, probed)
        seconds, restless = _attempt(stage, fence, manner, probed)
        if restless is None:
            return seconds
        channel.forgive(restless)
    raise restless or RuntimeError("no attempts")


def _attempt(
    stage: Stage, fence: Fence, manner: Manner, probed: Probed | None
) -> tuple[float, Exception | None]:
    """Seconds of one burst, and what to raise where somebody ran who was stopped."""
    bench, channel = stage.bench, stage.channel
    _settle(bench, channel, cold=manner.cold)
    before = channel.restless()
    seconds = _clocked(bench, channel, fence, stage.calls, manner.rest_s, probed)
    other = channel.restless()
    channel.freeze()
    if probed is None:
        prove(stage, fence)
    else:
        prove(stage, fence, probed.proven)
        probed.check()
    return seconds, before or other or channel.restless()


def _settle(bench: Bench, channel: Channel, *, cold: bool) -> None:
    """All of the judge's is done when the runner wakes, or it would see inputs before the clock."""
    bench.wait()
    if cold and bench.stillness is not None:
        bench.stillness.listen(channel)


def _ready(
    bench: Bench,
    channel: Channel,
    slots: Slots,
    calls: int,
    manner: Manner,
    probed: Probed | None,
) -> tuple[Stage, Fence]:
    """The runner stopped with its question before it, and slots and fence made ready for it."""
    order = _order(bench, channel, calls)
    channel.pose(calls, bench.limit_s)
    stage = set_up(bench, channel, slots, calls, manner, order)
    if probed is not None:
        stage = probed.prepare(stage)
    return stage, Fence(bench, slots.part(0, max(calls, manner.breadth)), stage.truth, calls)


def _order(bench: Bench, channel: Channel, calls: int) -> tuple[int, ...]:
    """Tell the runner the order of its next calls, while there is nothing yet to call them on."""
    if channel.gate is not None:
        return tuple(range(calls))
    order = bench.supply.shuffled(range(calls))
    channel.ask(Ask.ORDER, order, bench.limit_s)
    return tuple(order)


def idle_burst(
    bench: Bench, channel: Channel, slots: Slots, *, cold: bool, rest_s: float = 0.0
) -> float:
    """Seconds of a burst in which the runner is told to make no call, with a fence as usual.

    rest_s: as of `Manner`.
    """
    channel.pose(0, bench.limit_s)
    few = min(slots.count, IDLE_SLOTS)
    stage = set_up(bench, channel, slots, few, USUAL if cold else WARM)
    # On a CPU what no burst has used yet is not there yet, and to have it made takes far longer.
    breadth = few if bench.device.type == "cpu" else slots.count
    fence = Fence(bench, slots.part(0, breadth), stage.truth, few)
    _settle(bench, channel, cold=cold)
    return _clocked(bench, channel, fence, 0, rest_s)


def _clocked(
    bench: Bench,
    channel: Channel,
    fence: Fence,
    calls: int,
    rest_s: float = 0.0,
    probed: Probed | None = None,
) -> float:
    """Seconds from go until the fence has read its positions."""
    channel.start_burst(calls)
    channel.rest(rest_s)
    started = time.perf_counter()
    channel.go()
    if probed is not None:
        probed.during(started)
    channel.done(bench.limit_s)
    fence.look()
    bench.wait()
    return time.perf_counter() - started
