"""Slots made ready for a burst while no runner can look."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from campaigns.evaluator.judge.arena import Guards, Slots
from campaigns.evaluator.judge.case_context import Bench
from campaigns.evaluator.judge.channel import Channel
from campaigns.evaluator.judge.correctness.fresh_inputs import Poison, Truth, fill

# Slots behind those of a burst that are made ready like them and must stay as they are.
SPARE = 2


@dataclass(frozen=True, slots=True)
class Manner:
    """How a burst is made.

    cold: whether the caches are emptied before, where the slots would fit into them. breadth: over
    how many slots the fence is spread, if those are more than the calls. inputs: what so many slots
    hold; None has it be new. rest_s: for how long the judge spins first, before the clock starts.
    """

    cold: bool = True
    breadth: int = 0
    inputs: Callable[[int], Truth] | None = None
    rest_s: float = 0.0


USUAL, WARM = Manner(), Manner(cold=False)


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
    manner: Manner = USUAL,
    order: tuple[int, ...] = (),
) -> Stage:
    """Make `calls` slots and some spare ones ready while no runner can look. order: see `Stage`."""
    channel.freeze()
    part = slots.part(0, min(slots.count, calls + SPARE))
    made, inputs = part.count, manner.inputs
    truth = inputs(made) if inputs else bench.supply.fresh(made, bench.refresh)
    guards = Guards(part, bench.supply.noise)
    poison = Poison(part, bench.supply.noise)
    fill(part, truth)
    if manner.cold and bench.scrub is not None:
        bench.scrub.add_(1)
    return Stage(bench, channel, part, calls, truth, poison, guards, order)
