"""Where looks into a running burst look."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from campaigns.evaluator.judge.arena import as_integers
from campaigns.evaluator.judge.fence import telling_positions
from campaigns.evaluator.judge.stage import Stage
from campaigns.evaluator.layout import TensorArg

# Positions of an output that tell whether its call was made.
POSITIONS = 4


class Spots:
    """Positions of an output in the slots of some calls, and what was there before.

    order: the slots, as they are to be read. each: positions in a slot. tells: [slots] which of
    them change at all when their call is made.
    """

    def __init__(
        self, stage: Stage, arg: TensorArg, order: Sequence[int], each: int = POSITIONS
    ) -> None:
        slots = torch.tensor(order, device=stage.bench.device)
        shape = (stage.calls, min(each, arg.count))
        self._view = as_integers(stage.timed.all(arg))
        at, tells = telling_positions(stage.bench, stage.truth, arg, shape, stage.calls)
        self._at, self.tells = at[slots], tells[slots]
        self._rows = slots.unsqueeze(1).expand_as(self._at)
        self._before = self.read()

    def read(self) -> torch.Tensor:
        """[slots, positions] What is there now."""
        return self._view[self._rows, self._at]

    def changed(self, seen: torch.Tensor) -> torch.Tensor:
        """[slots, positions] Which of what was read is not what was there before."""
        return seen != self._before
