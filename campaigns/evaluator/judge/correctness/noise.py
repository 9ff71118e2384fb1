"""Secret bytes and values that mark memory which a call may not write, or has not written yet."""

from __future__ import annotations

import random
from typing import Any

import torch

from campaigns.evaluator.layout import TensorArg

# Primes, so that the pattern never falls into step with rows, blocks or slots.
BYTES = 65_537
VALUES = 49_157
MOST_STEP = 256


class SecretNoise:
    """Pads of random content, drawn once and read from a new place every time.

    A runner that has seen a pad could know a part of the next one. It gains nothing: its answers
    must differ from the pad; the pad need not look like answers.
    """

    def __init__(self, device: str | torch.device, generator: torch.Generator) -> None:
        self._device = device
        self._generator = generator
        self._draw = random.SystemRandom()
        self._pads: dict[str, torch.Tensor] = {}
        self._bytes = self._integers(BYTES, 0, 255, torch.uint8)

    def guards(self, count: int, width: int) -> torch.Tensor:
        """[count, width] random bytes."""
        return self._windows(self._bytes, count, width)

    def poison(self, arg: TensorArg, count: int) -> torch.Tensor:
        """[count, elements] values of the argument's dtype that no answer is likely to have.

        Floating values are huge but finite, of either sign. Integers and booleans are of any value,
        so some of them may well be right; what was not written is never right everywhere.
        """
        if arg.dtype not in self._pads:
            self._pads[arg.dtype] = self._values(getattr(torch, arg.dtype))
        return self._windows(self._pads[arg.dtype], count, arg.count)

    def _values(self, dtype: torch.dtype) -> torch.Tensor:
        if dtype is torch.bool:
            return self._integers(VALUES, 0, 1, torch.uint8).view(torch.bool)
        if not dtype.is_floating_point:
            info = torch.iinfo(dtype)
            return self._integers(VALUES, info.min, info.max, dtype)
        wide = torch.empty(VALUES, dtype=torch.float64, device=self._device)
        wide.uniform_(0.4, 0.9, generator=self._generator).mul_(torch.finfo(dtype).max)
        signs = self._integers(VALUES, 0, 1, torch.int64).mul_(2).sub_(1)
        return wide.mul_(signs).to(dtype)

    def _integers(self, count: int, low: int, high: int, dtype: torch.dtype) -> torch.Tensor:
        # `high` of int64 plus one has no int64; losing that one value costs nothing.
        above: Any = min(high + 1, torch.iinfo(torch.int64).max)
        made = torch.randint(
            low, above, (count,), generator=self._generator, device=self._device, dtype=torch.int64
        )
        return made.to(dtype)

    def _windows(self, pad: torch.Tensor, count: int, width: int) -> torch.Tensor:
        """Overlapping windows into one repeated pad: a view, however many slots there are."""
        offset, step = self._draw.randrange(pad.numel()), self._draw.randrange(1, MOST_STEP, 2)
        needed = offset + (count - 1) * step + width
        tiled = pad.repeat(-(-needed // pad.numel()))
        return tiled.as_strided((count, width), (step, 1), offset)
