"""A look at positions of all outputs that nobody but the judge knows, while the clock runs."""

from __future__ import annotations

import torch

from campaigns.evaluator.judge.arena import Slots
from campaigns.evaluator.judge.bench import Answers, Bench, is_right
from campaigns.evaluator.judge.compare import quick
from campaigns.evaluator.judge.fresh import Truth
from campaigns.evaluator.judge.undecided import NONE, Others, forgiven
from campaigns.evaluator.layout import TensorArg

# Positions over all slots of an output, and what each slot gets at the least.
POSITIONS, LEAST = 4096, 4


def telling_positions(
    bench: Bench, truth: Truth, arg: TensorArg, shape: tuple[int, int], calls: int
) -> torch.Tensor:
    """[slots, positions] of an output, drawn at random, that show whether a call was made.

    Of what is updated in place by `calls` calls, those that have to change: most may stay as they
    are.
    """
    generator = bench.supply.generator
    at = torch.randint(arg.count, shape, device=bench.device, generator=generator)
    if not arg.update:
        return at
    for k in range(calls):
        change = torch.nonzero(bench.changes(truth, arg, k)).reshape(-1)
        if change.numel():
            at[k] = change[at[k] % change.numel()]
    return at


class Fence:
    """What was read is kept and compared with the reference afterwards.

    So an output that was not right when the clock stopped is seen whatever it held: poison, junk,
    or half of the work.

    slots: all that are looked at, of which the first `calls` are worked on. Looking takes longer
    the more memory it is spread over, so it is spread alike in bursts whose times are compared.
    """

    def __init__(self, bench: Bench, slots: Slots, truth: Truth, calls: int) -> None:
        self._parts: list[tuple[TensorArg, torch.Tensor, torch.Tensor]] = []
        self._seen: list[torch.Tensor] = []
        for arg in slots.layout.outputs:
            each = min(max(LEAST, POSITIONS // max(slots.count, 1)), arg.count)
            at = telling_positions(bench, truth, arg, (slots.count, each), calls)
            self._parts.append((arg, slots.all(arg), at))

    def look(self) -> None:
        """Copy the positions out of every output."""
        self._seen = [view.gather(1, at) for _, view, at in self._parts]

    def saw_all(self, bench: Bench, want: Answers, first: int) -> torch.Tensor:
        """[slots] Whether those from `first` on were, at a quick look.

        want: [slots, elements] of each output.
        """
        count = len(next(iter(want.values())))
        right = torch.ones(count, dtype=torch.bool, device=bench.device)
        for seen, (arg, _, at) in zip(self._seen, self._parts, strict=True):
            wanted = want[arg.name].gather(1, at[first : first + count])
            tolerance = bench.tolerances[arg.name].by_element
            right &= quick(seen[first : first + count], wanted, tolerance)
        return right

    def saw(self, bench: Bench, want: Answers, k: int, near: Others = NONE) -> bool:
        """Whether slot `k` was right, at the positions, when `look` was called."""
        for seen, (arg, _, at) in zip(self._seen, self._parts, strict=True):
            wanted = want[arg.name].reshape(-1)[at[k]]
            also = near.get(arg.name)
            also = None if also is None else also.flatten(1)[:, at[k]]
            found = forgiven(seen[k], wanted, also)
            if not is_right(found, wanted, bench.tolerances[arg.name].by_element):
                return False
        return True
