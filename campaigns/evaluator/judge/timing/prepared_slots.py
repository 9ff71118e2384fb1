"""Slots made ready for a burst, and a fence that reads secret positions while the clock runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from campaigns.evaluator.contract.layout import TensorArg
from campaigns.evaluator.judge.correctness.arena import Gather, Guards, Slots
from campaigns.evaluator.judge.correctness.case_context import Answers, CaseContext, is_right
from campaigns.evaluator.judge.correctness.fresh_inputs import BurstInputs, Poison, fill
from campaigns.evaluator.judge.correctness.output_comparison import NONE, Others, forgiven, quick
from campaigns.evaluator.judge.integrity.channel import RunnerChannel

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


def telling_positions(
    context: CaseContext, truth: BurstInputs, arg: TensorArg, shape: tuple[int, int], calls: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """[slots, positions] of an output, drawn at random, that show whether a call was made.

    Of what is updated in place by `calls` calls, those that have to change: most may stay as they
    are. And [slots] whether there are any: a call that changes nothing shows nothing.
    """
    generator = context.supply.generator
    at = torch.randint(arg.count, shape, device=context.device, generator=generator)
    tells = torch.ones(len(at), dtype=torch.bool, device=context.device)
    if not arg.update:
        return at, tells
    for k in range(calls):
        change = torch.nonzero(context.changes(truth, arg, k)).reshape(-1)
        tells[k] = change.numel() > 0
        if change.numel():
            at[k] = change[at[k] % change.numel()]
    return at, tells


class OutputFence:
    """Reads positions of every output; they are compared with the reference afterwards.

    So an output that was not right when the clock stopped is noticed, whatever it held: poison,
    junk, or half of the work. Fences of as many slots share their memory, so only the latest may be
    used.

    slots: all that are read, of which the first `calls` are worked on. Reading takes longer the
    more memory it covers, so bursts whose times are compared read equally many slots.
    """

    def __init__(self, context: CaseContext, slots: Slots, truth: BurstInputs, calls: int) -> None:
        memory = (slots.rows.data_ptr(), slots.count)
        if memory not in context.gathers:
            context.gathers[memory] = Gather(slots, context.device)
        self._gather = context.gathers[memory]
        for arg in slots.layout.outputs:
            at = self._gather.at[arg.name]
            where, _ = telling_positions(context, truth, arg, (len(at), at.shape[1]), calls)
            at.copy_(where)

    def look(self) -> None:
        """Copy the positions out of every output."""
        self._gather.read()

    def saw_all(self, context: CaseContext, want: Answers, first: int) -> torch.Tensor:
        """[slots] Which slots from `first` on were right, by a quick comparison.

        want: [slots, elements] of each output.
        """
        count = len(next(iter(want.values())))
        right = torch.ones(count, dtype=torch.bool, device=context.device)
        part = slice(first, first + count)
        for name, seen in self._gather.seen.items():
            wanted = want[name].gather(1, self._gather.at[name][part])
            right &= quick(seen[part], wanted, context.tolerances[name].by_element)
        return right

    def saw(self, context: CaseContext, want: Answers, k: int, near: Others = NONE) -> bool:
        """Whether slot `k` was right at the read positions."""
        for name, seen in self._gather.seen.items():
            at = self._gather.at[name][k]
            wanted = want[name].reshape(-1)[at]
            also = near.get(name)
            also = None if also is None else also.flatten(1)[:, at]
            found = forgiven(seen[k], wanted, also)
            if not is_right(found, wanted, context.tolerances[name].by_element):
                return False
        return True
