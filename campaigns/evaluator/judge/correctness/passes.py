"""Making inputs and comparing answers: two passes over all of a burst's memory.

Here by torch operations, on every device; `one_pass` has one Triton kernel and one
loop in C++ for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch

from campaigns.evaluator.judge.correctness.arena import copy_of
from campaigns.evaluator.judge.correctness.output_comparison import Tolerance, quick


@dataclass(frozen=True, slots=True)
class RowWindows:
    """Windows into a flat tensor: row r begins at `start + r * step`."""

    flat: torch.Tensor
    start: int
    step: int

    def rows(self, count: int, width: int) -> torch.Tensor:
        return self.flat.as_strided((count, width), (self.step, 1), self.start)


@dataclass(frozen=True, slots=True)
class InputMix:
    """Integers one ^ (difference & pattern), with the last bits of inexact values exchanged.

    difference: has the windows of `one`. last: bits for values in which a bit of `exact` is set;
    None leaves all as they are.
    """

    one: RowWindows
    difference: torch.Tensor
    pattern: RowWindows
    last: RowWindows | None = None
    exact: int = 0


class Passes(Protocol):
    """Both passes."""

    def mix(self, mixture: InputMix, into: torch.Tensor) -> None:
        """Write a mixture into [rows, width] of integers."""

    def close(
        self, found: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance
    ) -> torch.Tensor:
        """[answers] True where an answer is right; False: compare closely.

        found, expected: [answers, elements]. A runner can write to `found`, so every element is
        read once.
        """


class TorchPasses:
    """Both passes by torch operations, each of which reads and writes all of the memory."""

    def __init__(self) -> None:
        # By dtype; in one piece of memory, since touching new pages costs more than the work.
        self._masks: dict[torch.dtype, torch.Tensor] = {}

    def mix(self, mixture: InputMix, into: torch.Tensor) -> None:
        rows, width = into.shape
        one, chosen = mixture.one, mixture.pattern.rows(rows, width)
        difference = RowWindows(mixture.difference, one.start, one.step)
        torch.bitwise_and(difference.rows(rows, width), chosen, out=into)
        into.bitwise_xor_(one.rows(rows, width))
        if mixture.last is not None:
            # All ones where the value is inexact: a negative number's sign, shifted down.
            mask = torch.bitwise_and(into, mixture.exact, out=self._mask(into)).neg_()
            mask.bitwise_right_shift_(8 * into.element_size() - 1)
            into.bitwise_xor_(mask.bitwise_and_(mixture.last.rows(rows, width)))

    def _mask(self, like: torch.Tensor) -> torch.Tensor:
        mask = self._masks.get(like.dtype)
        if mask is None or mask.shape != like.shape:
            mask = self._masks[like.dtype] = torch.empty_like(
                like, memory_format=torch.contiguous_format
            )
        return mask

    def close(
        self, found: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance
    ) -> torch.Tensor:
        return quick(copy_of(found), expected, tolerance)
