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
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.judge.arena import Guards, Slots
from campaigns.evaluator.judge.bench import Bench
from campaigns.evaluator.judge.channel import Channel
from campaigns.evaluator.judge.fence import Fence
from campaigns.evaluator.judge.fresh import Poison, Truth, fill, inputs_intact, starts_intact
from campaigns.evaluator.judge.undecided import Others, others
from campaigns.evaluator.wire import Ask

# How long a burst that looked unfinished is left alone before it is judged late or empty.
SETTLE_S = 0.2
# A burst in which somebody ran who was stopped says nothing and is made again. That may happen once
# to an honest one, which the host held up on its way to rest; who lets itself go on does it always.
ATTEMPTS = 5
# How many slots the fence of an idle burst looks at: it reads as many positions of few as of many.
IDLE_SLOTS = 16
# Slots behind those of a burst that are made ready like them and must stay as they are.
SPARE = 4


@dataclass(frozen=True, slots=True)
class Stage:
    """Refreshed slots: the first `calls` are to be worked on, those behind them are not.

    order: the slots of the calls, in turn; empty where none are made yet.
    """

    bench: Bench
    channel: Channel
    slots: Slots
    calls: int
    truth: Truth
    poison: Poison
    guards: Guards
    order: tuple[int, ...]

    @property
    def timed(self) -> Slots:
        return self.slots.part(0, self.calls)


def set_up(
    bench: Bench,
    channel: Channel,
    slots: Slots,
    calls: int,
    *,
    cold: bool = True,
    order: tuple[int, ...] = (),
) -> Stage:
    """Make `calls` slots and some spare ones ready while no runner can look.

    cold: whether the caches are emptied where the slots would fit into them. order: see `Stage`.
    """
    channel.freeze()
    part = slots.part(0, min(slots.count, calls + SPARE))
    truth = bench.supply.fresh(part.count, bench.refresh)
    guards = Guards(part, bench.supply.noise)
    poison = Poison(part, bench.supply.noise)
    fill(part, truth)
    if cold and bench.scrub is not None:
        bench.scrub.add_(1)
    return Stage(bench, channel, part, calls, truth, poison, guards, order)


class Look(Protocol):
    """What the judge does while a burst runs, besides waiting for it."""

    def ready(self, stage: Stage) -> None:
        """Before the runner is let go on."""

    def during(self, started: float) -> None:
        """After go, which was at `started` on the judge's clock (`time.perf_counter`)."""


def run_burst(
    bench: Bench,
    channel: Channel,
    slots: Slots,
    calls: int,
    *,
    cold: bool = True,
    look: Look | None = None,
) -> float:
    """Seconds on the judge's clock for `calls` proven calls of the runner behind `channel`.

    Raises what `Channel.blame` makes of a call that is late, wrong or touched what is not its own.
    """
    for _ in range(ATTEMPTS):
        seconds, restless = _attempt(bench, channel, slots, calls, cold=cold, look=look)
        if restless is None:
            return seconds
    raise restless or RuntimeError("no attempts")


def _attempt(
    bench: Bench, channel: Channel, slots: Slots, calls: int, *, cold: bool, look: Look | None
) -> tuple[float, Exception | None]:
    """Seconds of one burst, and what to raise where somebody ran who was stopped."""
    stage, fence = _ready(bench, channel, slots, calls, cold=cold)
    if look is not None:
        look.ready(stage)
    # All of this is done when the runner wakes, or it would see inputs before the clock runs.
    bench.wait()
    if cold and bench.stillness is not None:
        bench.stillness.listen(channel)
    before = channel.restless()
    seconds = _clocked(bench, channel, fence, calls, look)
    other = channel.restless()
    channel.freeze()
    prove(stage, fence)
    return seconds, before or other or channel.restless()


def make_burst(
    bench: Bench, channel: Channel, slots: Slots, calls: int, change: Callable[[Stage], Stage]
) -> tuple[Stage, Fence]:
    """A burst that no time is taken of, to the runner like any other; what there is to be proven.

    change: what else is done to the slots before the runner is let go on.
    """
    stage, fence = _ready(bench, channel, slots, calls, change=change)
    bench.wait()
    _clocked(bench, channel, fence, calls)
    channel.freeze()
    return stage, fence


def _ready(
    bench: Bench,
    channel: Channel,
    slots: Slots,
    calls: int,
    *,
    cold: bool = True,
    change: Callable[[Stage], Stage] | None = None,
) -> tuple[Stage, Fence]:
    """The runner stopped with its question before it, and slots and fence made ready for it."""
    order = _draw_order(bench, channel, calls)
    channel.pose(calls, bench.limit_s)
    stage = set_up(bench, channel, slots, calls, cold=cold, order=order)
    if change is not None:
        stage = change(stage)
    return stage, Fence(bench, stage.timed, stage.truth)


def _draw_order(bench: Bench, channel: Channel, calls: int) -> tuple[int, ...]:
    """Tell the runner the order of its next calls, while there is nothing yet to call them on."""
    order = list(range(calls))
    if channel.gate is None:
        bench.supply.draw.shuffle(order)
        channel.ask(Ask.ORDER, order, bench.limit_s)
    return tuple(order)


def idle_burst(bench: Bench, channel: Channel, slots: Slots, *, cold: bool) -> float:
    """Seconds of a burst in which the runner is told to make no call, with a fence as usual."""
    channel.pose(0, bench.limit_s)
    stage = set_up(bench, channel, slots, min(slots.count, IDLE_SLOTS), cold=cold)
    fence = Fence(bench, stage.timed, stage.truth)
    bench.wait()
    return _clocked(bench, channel, fence, 0)


def _clocked(
    bench: Bench, channel: Channel, fence: Fence, calls: int, look: Look | None = None
) -> float:
    """Seconds from go until the fence has read its positions."""
    channel.start_burst(calls)
    started = time.perf_counter()
    channel.go()
    if look is not None:
        look.during(started)
    channel.done(bench.limit_s)
    fence.look()
    bench.wait()
    return time.perf_counter() - started


def prove(stage: Stage, fence: Fence, but: Container[int] = ()) -> None:
    """Every call's answer, when the clock stopped and now; nothing else may have changed.

    but: the slots whose answers somebody else looks at.
    """
    bench, channel, slots = stage.bench, stage.channel, stage.slots
    for k in range(stage.calls):
        if k in but:
            continue
        want = bench.expect(stage.truth, k, None)
        if not (bench.right(slots, want, k) and fence.saw(bench, want, k)):
            near = others(bench, bench.given(stage.truth, k))
            if not (near and bench.right(slots, want, k, near) and fence.saw(bench, want, k, near)):
                _blame_call(stage, want, k, near)
    if not stage.guards.intact():
        raise channel.blame(Outcome.WRONG_RESULT, "a call wrote outside its output")
    changed = inputs_intact(slots, stage.truth)
    if changed:
        raise channel.blame(Outcome.CHEATED, f"a call changed its input {changed!r}")
    untouched = stage.poison.untouched(stage.calls)
    if not (untouched and starts_intact(slots, stage.truth, stage.calls)):
        raise channel.blame(Outcome.CHEATED, "it wrote the output of a call that was not made")


def _blame_call(stage: Stage, want: Any, k: int, near: Others) -> None:
    """Call `k` was not right when the clock stopped: is its work late, or was it never done?"""
    bench, channel, slots = stage.bench, stage.channel, stage.slots
    number = stage.order.index(k) + 1
    let_settle(bench, channel)
    if bench.right(slots, want, k, near):
        raise channel.blame(
            Outcome.CHEATED,
            f"said done before its work was done: the output of call {number} of {stage.calls} was "
            "not right when the clock stopped, and became right later",
        )
    worst = bench.closer_look(slots, bench.expect(stage.truth, k, torch.float64), k)
    raise channel.blame(
        Outcome.WRONG_RESULT,
        f"timed call {number} of {stage.calls} is wrong: {worst.message}",
    )


def let_settle(bench: Bench, channel: Channel) -> None:
    """Give a runner time to finish what it has left running, then stop it again."""
    bench.wait()
    channel.thaw()
    time.sleep(SETTLE_S)
    bench.wait()
    channel.freeze()
