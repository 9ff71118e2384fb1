"""What looks into a running burst have in common: where they look, and when they are believed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import torch

from campaigns.evaluator.judge.arena import as_integers
from campaigns.evaluator.judge.fence import telling_positions
from campaigns.evaluator.judge.stage import Stage
from campaigns.evaluator.layout import TensorArg

# How often a look is tried; some say nothing.
TRIES = 16
# Positions of an output that tell whether its call was made.
POSITIONS = 4


class Seen(Protocol):
    """What one look saw."""

    @property
    def odd(self) -> bool: ...


SeenT = TypeVar("SeenT", bound=Seen)


@dataclass(frozen=True, slots=True)
class Belief:
    """Looks that say something: `first` if none is odd, else up to `most`; `odd` are believed."""

    first: int
    most: int
    odd: int


def believed(look: Callable[[], SeenT | None], belief: Belief) -> list[SeenT]:
    """All that was seen once enough of it is odd; nothing where it is not.

    look: None where it says nothing.
    """
    found: list[SeenT] = []
    for _ in range(TRIES):
        if (seen := look()) is None:
            continue
        found.append(seen)
        odd = sum(one.odd for one in found)
        if odd >= belief.odd:
            return found
        if len(found) >= (belief.most if odd else belief.first):
            break
    return []


class Spots:
    """Positions of an output in the slots of some calls, and what was there before.

    order: the slots, as they are to be read. each: positions in a slot.
    """

    def __init__(
        self, stage: Stage, arg: TensorArg, order: Sequence[int], each: int = POSITIONS
    ) -> None:
        slots = torch.tensor(order, device=stage.bench.device)
        shape = (stage.calls, min(each, arg.count))
        self._view = as_integers(stage.timed.all(arg))
        self._at = telling_positions(stage.bench, stage.truth, arg, shape, stage.calls)[slots]
        self._rows = slots.unsqueeze(1).expand_as(self._at)
        self._before = self.read()

    def read(self) -> torch.Tensor:
        """[slots, positions] What is there now."""
        return self._view[self._rows, self._at]

    def changed(self, seen: torch.Tensor) -> torch.Tensor:
        """[slots, positions] Which of what was read is not what was there before."""
        return seen != self._before
