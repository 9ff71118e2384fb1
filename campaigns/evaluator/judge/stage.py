"""Slots made ready for a burst while no runner can look."""

from __future__ import annotations

from dataclasses import dataclass

from campaigns.evaluator.judge.arena import Guards, Slots
from campaigns.evaluator.judge.bench import Bench
from campaigns.evaluator.judge.channel import Channel
from campaigns.evaluator.judge.fresh import Poison, Truth, fill

# Slots behind those of a burst that are made ready like them and must stay as they are.
SPARE = 2


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
