"""Slots made ready for a burst while no runner can read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from campaigns.evaluator.judge.arena import Guards, Slots
from campaigns.evaluator.judge.case_context import CaseContext
from campaigns.evaluator.judge.channel import RunnerChannel
from campaigns.evaluator.judge.correctness.fresh_inputs import BurstInputs, Poison, fill

# Slots behind those of a burst that are made ready like them and must stay as they are.
SPARE = 2


@dataclass(frozen=True, slots=True)
class BurstOptions:
    """How a burst is made.

    cold: whether to empty the caches first, where the slots would fit into them. breadth: how many
    slots the fence covers, if more than the calls. inputs: makes the contents of so many slots;
    None draws fresh ones. rest_s: how long the judge spins before the clock starts.
    """

    cold: bool = True
    breadth: int = 0
    inputs: Callable[[int], BurstInputs] | None = None
    rest_s: float = 0.0


USUAL, WARM = BurstOptions(), BurstOptions(cold=False)


@dataclass(frozen=True, slots=True)
class PreparedSlots:
    """Refreshed slots: calls are made on the first `calls` of them and not on the rest.

    order: the slots of the calls, in turn; empty where no call is made.
    """

    context: CaseContext
    channel: RunnerChannel
    slots: Slots
    calls: int
    truth: BurstInputs
    poison: Poison
    guards: Guards
    order: tuple[int, ...]

    @property
    def timed(self) -> Slots:
        return self.slots.part(0, self.calls)


def set_up(
    context: CaseContext,
    channel: RunnerChannel,
    slots: Slots,
    calls: int,
    options: BurstOptions = USUAL,
    order: tuple[int, ...] = (),
) -> PreparedSlots:
    """Make `calls` slots and some spare ones ready while no runner can read them.

    order: see `PreparedSlots`.
    """
    channel.freeze()
    part = slots.part(0, min(slots.count, calls + SPARE))
    made, inputs = part.count, options.inputs
    truth = inputs(made) if inputs else context.supply.fresh(made, context.refresh)
    guards = Guards(part, context.supply.noise)
    poison = Poison(part, context.supply.noise)
    fill(part, truth)
    if options.cold:
        context.cool(part.rows, slots.rows.numel())
    return PreparedSlots(context, channel, part, calls, truth, poison, guards, order)
