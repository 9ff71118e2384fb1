"""Reading a few positions of every output of many slots at once."""

from __future__ import annotations

import torch

from campaigns.evaluator.judge.arena import Slots
from campaigns.evaluator.judge.timing.captured import captured

# How many positions of an output are read in all slots, and in each slot at the least.
POSITIONS, LEAST = 4096, 4


class Gather:
    """Reads given positions of all outputs of some slots, as often as needed.

    On a GPU it is one captured graph: launching its parts one by one from Python takes 0.1 ms, and
    twice as long after a long burst, when the processor's caches are cold.
    """

    def __init__(self, slots: Slots, device: torch.device) -> None:
        self.at: dict[str, torch.Tensor] = {}
        self.seen: dict[str, torch.Tensor] = {}
        self._views: dict[str, torch.Tensor] = {}
        for arg in slots.layout.outputs:
            each = min(max(LEAST, POSITIONS // max(slots.count, 1)), arg.count)
            view = self._views[arg.name] = slots.all(arg)
            self.at[arg.name] = torch.zeros((slots.count, each), dtype=torch.int64, device=device)
            self.seen[arg.name] = torch.empty_like(self.at[arg.name], dtype=view.dtype)
        graph = captured(self._read, device) if device.type == "cuda" else None
        self.read = self._read if graph is None else graph.replay

    def _read(self) -> None:
        for name, view in self._views.items():
            torch.gather(view, 1, self.at[name], out=self.seen[name])
