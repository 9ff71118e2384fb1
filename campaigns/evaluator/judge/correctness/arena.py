"""The judge's memory that a runner works in: one allocation, shared once, before the lock-down.

On a CPU it is an anonymous memory file; on a GPU one device allocation opened through CUDA IPC.
With it the secret bytes and values that mark what a call may not write, or has not written yet, and
the gather that reads a few positions of every output at once.
"""

from __future__ import annotations

import io
import mmap
import os
import random
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch

from campaigns.evaluator.contract.layout import Layout, TensorArg
from campaigns.evaluator.judge.integrity.device_quiescence import captured
from campaigns.evaluator.reference.memory import as_integers

# Primes, so that the pattern never falls into step with rows, blocks or slots.
BYTES = 65_537
VALUES = 49_157
MOST_STEP = 256
# So many elements of a row are compared at once.
COMPARED = 1 << 28
# How many positions of an output are read in all slots, and in each slot at the least.
POSITIONS, LEAST = 4096, 4


@dataclass(frozen=True, slots=True)
class Handle:
    """How a runner opens an arena: a memory file of `size` bytes, or a pickled CUDA handle."""

    size: int
    cuda: bytes | None


class Arena:
    """`size` bytes of shared memory seen as one flat uint8 tensor."""

    def __init__(self, size: int, device: torch.device) -> None:
        self.size = size
        self.fds: list[int] = []
        self.handle = Handle(size, None)
        if device.type == "cpu":
            fd = os.memfd_create("kopt-arena", os.MFD_CLOEXEC)
            os.ftruncate(fd, size)
            self._map = mmap.mmap(fd, size)
            self.fds = [fd]
            self.bytes = torch.frombuffer(self._map, dtype=torch.uint8)
            return
        from torch.multiprocessing.reductions import reduce_tensor

        self.bytes = torch.empty(size, dtype=torch.uint8, device=device)
        buffer = io.BytesIO()
        ForkingPickler(buffer).dump(reduce_tensor(self.bytes))
        self.handle = Handle(size, buffer.getvalue())

    def slots(self, layout: Layout, count: int) -> Slots:
        return Slots(self.bytes[: layout.stride * count].view(count, layout.stride), layout)


class Slots:
    """The first `count` slots of an arena under one layout, as the judge sees them."""

    def __init__(self, rows: torch.Tensor, layout: Layout) -> None:
        self.rows = rows
        self.layout = layout
        self.count = rows.shape[0]

    def all(self, arg: TensorArg) -> torch.Tensor:
        """[slots, elements] view of one argument over all slots."""
        part = self.rows[:, arg.offset : arg.offset + arg.nbytes]
        return part.view(getattr(torch, arg.dtype))

    def one(self, arg: TensorArg, slot: int) -> torch.Tensor:
        """One argument of one slot in its own shape."""
        return self.all(arg)[slot].view(arg.shape)

    def part(self, first: int, count: int) -> Slots:
        """`count` of these slots from `first` on."""
        return Slots(self.rows[first : first + count], self.layout)


class Guards:
    """Random bytes in every gap of some slots, and whether they are still there."""

    def __init__(self, slots: Slots, noise: SecretNoise) -> None:
        self._gaps = [
            (slots.rows[:, start:end], noise.guards(slots.count, end - start))
            for start, end in slots.layout.gaps()
        ]
        for gap, wanted in self._gaps:
            gap.copy_(wanted)

    def intact(self) -> bool:
        """Whether no byte outside the tensors was written."""
        return all(torch.equal(gap, wanted) for gap, wanted in self._gaps)


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors are equal bit by bit."""
    if not one.dim():
        return bool(torch.equal(as_integers(one), as_integers(other)))
    # To compare on a GPU takes a byte for each element.
    pieces = (as_integers(each).split(COMPARED, -1) for each in (one, other))
    return all(bool(torch.equal(*pair)) for pair in zip(*pieces, strict=True))


def copy_of(output: torch.Tensor) -> torch.Tensor:
    """Bit by bit: a copy of booleans as such would turn every byte but 0 into 1."""
    return as_integers(output).clone().view(output.dtype)


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
        """[count, elements] values of the argument's dtype that are unlikely as answers.

        Floating values are huge but finite, of either sign. Integers and booleans take any value,
        so some may be right by chance; but never all of an output.
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


class Gather:
    """Reads given positions of all outputs of some slots, as often as needed.

    On a GPU it is one captured graph: launching its parts one by one from Python takes 0.1 ms, and
    twice as long after a long burst, when the processor's caches are cold.
    """

    def __init__(self, slots: Slots, device: torch.device) -> None:
        self.at: dict[str, torch.Tensor] = {}
        self.seen: dict[str, torch.Tensor] = {}
        views = {arg.name: slots.all(arg) for arg in slots.layout.outputs}
        for arg in slots.layout.outputs:
            each = min(max(LEAST, POSITIONS // max(slots.count, 1)), arg.count)
            at = torch.zeros((slots.count, each), dtype=torch.int64, device=device)
            self.at[arg.name] = at
            self.seen[arg.name] = torch.empty_like(at, dtype=views[arg.name].dtype)

        def read() -> None:
            for name, view in views.items():
                torch.gather(view, 1, self.at[name], out=self.seen[name])

        self.read = captured(read, device).replay if device.type == "cuda" else read
