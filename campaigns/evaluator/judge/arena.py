"""The judge's memory that a runner works in: one allocation, shared once, before the lock-down.

On a CPU it is an anonymous memory file; on a GPU one device allocation opened through CUDA IPC.
"""

from __future__ import annotations

import io
import mmap
import os
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch

from campaigns.evaluator.judge.correctness.noise import SecretNoise
from campaigns.evaluator.layout import Layout, TensorArg


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
        cuda: bytes | None = None
        if device.type == "cpu":
            fd = os.memfd_create("kopt-arena", os.MFD_CLOEXEC)
            os.ftruncate(fd, size)
            self._map = mmap.mmap(fd, size)
            self.fds = [fd]
            self.bytes = torch.frombuffer(self._map, dtype=torch.uint8)
        else:
            self.bytes = torch.empty(size, dtype=torch.uint8, device=device)
            cuda = _cuda_handle(self.bytes)
        self.handle = Handle(size, cuda)

    def slots(self, layout: Layout, count: int) -> Slots:
        return Slots(self.bytes[: layout.stride * count].view(count, layout.stride), layout)


def _cuda_handle(tensor: torch.Tensor) -> bytes:
    from torch.multiprocessing.reductions import reduce_tensor

    buffer = io.BytesIO()
    ForkingPickler(buffer).dump(reduce_tensor(tensor))
    return buffer.getvalue()


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


def slots_that_fit(arena_bytes: int, layout: Layout, most: int) -> int:
    return max(0, min(most, arena_bytes // layout.stride))


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors are equal bit by bit."""
    return bool(torch.equal(as_integers(one), as_integers(other)))


def as_integers(tensor: torch.Tensor) -> torch.Tensor:
    """The same bits as integers, so that NaN equals NaN in a comparison."""
    width: dict[int, Any] = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.view(width[tensor.element_size()])


def copy_of(output: torch.Tensor) -> torch.Tensor:
    """Bit by bit: a copy of booleans as such would turn every byte but 0 into 1."""
    return as_integers(output).clone().view(output.dtype)
