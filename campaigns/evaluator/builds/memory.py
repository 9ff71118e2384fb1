"""Open the judge's arena from the runner's side."""

from __future__ import annotations

import ctypes
import mmap
import os
import pickle
from math import ceil
from typing import TYPE_CHECKING, Any, Protocol

from campaigns.evaluator.contract.layout import Layout, TensorArg

if TYPE_CHECKING:
    import torch

# How much is written at once where a burst of no calls has to take a while, and how often to see
# how long that takes.
FILLED_BYTES, TRIED = 256 << 20, 4


class Memory(Protocol):
    """An opened arena: addresses for C functions, tensors for Python ones."""

    def address(self, layout: Layout, slot: int, arg: TensorArg) -> int: ...

    def tensor(self, layout: Layout, slot: int, arg: TensorArg) -> torch.Tensor: ...

    def stir(self) -> None:
        """What a burst of no calls does: have the device do next to nothing, and wait for it."""

    def stay(self, ms: float) -> float:
        """From now on have it work for about so long then; seconds that it did the last time."""


def map_shared(fd: int, size: int) -> ctypes.Array[ctypes.c_ubyte]:
    """Map a memory file for as long as this process lives; the file may be closed afterwards.

    Python's own mmap keeps a copy of the descriptor, and with one a process can shorten the
    file. Raises OSError.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (*(ctypes.c_void_p, ctypes.c_size_t), *([ctypes.c_int] * 3), ctypes.c_long)
    at = libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, fd, 0)
    if at is None or at == ctypes.c_void_p(-1).value:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), "the judge's memory")
    return (ctypes.c_ubyte * size).from_address(at)


def open_memory(handle: Any, fds: list[int]) -> Memory:
    """Open what `campaigns.evaluator.judge.correctness.arena.Handle` describes."""
    if handle.cuda is None:
        return HostMemory(fds[0], handle.size)
    return DeviceMemory(handle.cuda)


class HostMemory:
    """A shared memory file."""

    def __init__(self, fd: int, size: int) -> None:
        self._map = map_shared(fd, size)
        self._base = ctypes.addressof(self._map)

    def address(self, layout: Layout, slot: int, arg: TensorArg) -> int:
        return self._base + slot * layout.stride + arg.offset

    def tensor(self, layout: Layout, slot: int, arg: TensorArg) -> torch.Tensor:
        import torch

        at = slot * layout.stride + arg.offset
        dtype = getattr(torch, arg.dtype)
        flat = torch.frombuffer(self._map, dtype=dtype, count=arg.count, offset=at)
        return flat.view(arg.shape)

    def stir(self) -> None:
        """There is no device to wait for."""

    def stay(self, ms: float) -> float:
        """There is no device that could work."""
        return 0.0


class DeviceMemory:
    """A device allocation of the judge's, opened through CUDA IPC."""

    def __init__(self, pickled: bytes) -> None:
        rebuild, args = pickle.loads(pickled)
        self._bytes: torch.Tensor = rebuild(*args)
        self._word = self._bytes.new_zeros(1)
        self._fills = 0
        self._worked_s = 0.0

    def address(self, layout: Layout, slot: int, arg: TensorArg) -> int:
        return int(self._bytes.data_ptr()) + slot * layout.stride + arg.offset

    def tensor(self, layout: Layout, slot: int, arg: TensorArg) -> torch.Tensor:
        import torch

        at = slot * layout.stride + arg.offset
        part = self._bytes[at : at + arg.nbytes]
        return part.view(getattr(torch, arg.dtype)).view(arg.shape)

    def stir(self) -> None:
        """One launch: the device then turns from the judge's work to ours, as in any burst."""
        import torch

        if self._fills:
            self._worked_s = self._fill_s(self._fills)
            return
        self._word.add_(1)
        torch.cuda.synchronize()

    def stay(self, ms: float) -> float:
        """Work is writing to the judge's memory, of which nothing is kept."""
        self._fills = ceil(ms * 1e-3 / max(self._fill_s(TRIED) / TRIED, 1e-7)) if ms > 0 else 0
        return self._worked_s

    def _fill_s(self, times: int) -> float:
        """Seconds by the device's own events."""
        import torch

        part = self._bytes[:FILLED_BYTES]
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(times):
            part.zero_()
        end.record()
        torch.cuda.synchronize()
        return float(start.elapsed_time(end)) * 1e-3
