"""Reading secret positions of all outputs while the clock runs."""

from __future__ import annotations

import torch

from campaigns.evaluator.judge.arena import Slots
from campaigns.evaluator.judge.case_context import Answers, CaseContext, is_right
from campaigns.evaluator.judge.correctness.compare import quick
from campaigns.evaluator.judge.correctness.fresh_inputs import BurstInputs
from campaigns.evaluator.judge.correctness.undecided import NONE, Others, forgiven
from campaigns.evaluator.judge.timing.gather import Gather
from campaigns.evaluator.layout import TensorArg


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
