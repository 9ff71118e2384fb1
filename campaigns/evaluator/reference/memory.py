"""Memory that judge and reference share: the judge makes it, and makes more where it needs more.

On a GPU it is handed to the other process as a file descriptor. Unlike a handle of CUDA's
interprocess calls it can be opened by another user, and under a lock that is closed.
https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__VA.html
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
from ctypes import Structure, byref, c_int, c_size_t, c_ubyte, c_uint64, c_ushort, c_void_p
from typing import TYPE_CHECKING, Any

from campaigns.evaluator import cuda_driver
from campaigns.evaluator.cuda_driver import DriverError
from campaigns.evaluator.reference.messages import Sent

if TYPE_CHECKING:
    import torch

# The reference has the file, too. So it cannot make the judge's reading fail by making it shorter.
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL

PINNED, AS_FILE, ON_DEVICE, READ_WRITE = 1, 1, 1, 3
OUT_OF_MEMORY = 2
NOTHING = c_uint64(0)


def new_memory(size: int, device: torch.device) -> tuple[torch.Tensor, int]:
    """At least `size` new bytes, and the file to hand over, which the caller closes.

    Raises OSError, DriverError, MemoryError.
    """
    if device.type == "cuda":
        made = ExportedMemory(device, size)
        return made.bytes, made.file()
    fd = os.memfd_create("kopt-exchange", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, size)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, SEALS)
    return _mapped(fd, size), fd


def opened_memory(fd: int, size: int, device: torch.device) -> torch.Tensor:
    """The bytes of memory that another process has made. Raises OSError, DriverError."""
    if device.type == "cuda":
        return ExportedMemory(device, size, fd).bytes
    return _mapped(fd, size)


def view(memory: torch.Tensor, sent: Sent, rows: int = 1) -> torch.Tensor:
    """[rows, …] what lies at a place in the memory."""
    import torch

    part = memory[sent.offset : sent.offset + rows * sent.nbytes]
    return part.view(getattr(torch, sent.dtype)).view(rows, *sent.shape)


def _mapped(fd: int, size: int) -> torch.Tensor:
    import torch

    return torch.frombuffer(mmap.mmap(fd, size), dtype=torch.uint8)


def as_integers(tensor: torch.Tensor) -> torch.Tensor:
    """The same bits as integers, so that NaN equals NaN in a comparison."""
    import torch

    width: dict[int, Any] = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.view(width[tensor.element_size()])


class _Location(Structure):
    _fields_ = [("type", c_int), ("id", c_int)]


class _Flags(Structure):
    _fields_ = [
        *(("compression", c_ubyte), ("rdma", c_ubyte)),
        *(("usage", c_ushort), ("reserved", c_ubyte * 4)),
    ]


class _Wanted(Structure):
    _fields_ = [
        *(("type", c_int), ("handles", c_int), ("location", _Location)),
        *(("windows", c_void_p), ("flags", _Flags)),
    ]


class _Access(Structure):
    _fields_ = [("location", _Location), ("flags", c_int)]


class ExportedMemory:
    """An allocation that is mapped here for as long as this object, or a tensor of it, lives."""

    def __init__(self, device: torch.device, size: int, fd: int | None = None) -> None:
        """fd: the file of an allocation of `size` bytes; None makes one.

        Raises DriverError, MemoryError.
        """
        self._device = device
        self._at, self._handle = c_uint64(), c_uint64()
        here = _Location(ON_DEVICE, device.index or 0)
        wanted, unit = _Wanted(PINNED, AS_FILE, here), c_size_t()
        cuda_driver.call("cuMemGetAllocationGranularity", byref(unit), byref(wanted), 0)
        self.size = -(-size // unit.value) * unit.value
        length, handle = c_size_t(self.size), byref(self._handle)
        if fd is None:
            _with_room("cuMemCreate", handle, length, byref(wanted), NOTHING)
        else:
            cuda_driver.call("cuMemImportFromShareableHandle", handle, c_void_p(fd), AS_FILE)
        at = byref(self._at)
        cuda_driver.call("cuMemAddressReserve", at, length, c_size_t(0), NOTHING, NOTHING)
        _with_room("cuMemMap", self._at, length, c_size_t(0), self._handle, NOTHING)
        access = _Access(here, READ_WRITE)
        cuda_driver.call("cuMemSetAccess", self._at, length, byref(access), c_size_t(1))

    def __del__(self) -> None:
        with contextlib.suppress(DriverError, OSError):
            if self._at.value:
                length = c_size_t(self.size)
                cuda_driver.call("cuMemUnmap", self._at, length)
                cuda_driver.call("cuMemAddressFree", self._at, length)
            if self._handle.value:
                cuda_driver.call("cuMemRelease", self._handle)

    def file(self) -> int:
        """A file descriptor by which another process can open it. Raises DriverError."""
        fd = c_int()
        cuda_driver.call("cuMemExportToShareableHandle", byref(fd), self._handle, AS_FILE, NOTHING)
        return fd.value

    @property
    def bytes(self) -> torch.Tensor:
        """[size] of uint8."""
        import torch

        return torch.as_tensor(self, device=self._device)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html"""
        place = (self._at.value, False)
        return {"shape": (self.size,), "typestr": "|u1", "data": place, "version": 3}


def _with_room(name: str, *arguments: Any) -> None:
    try:
        cuda_driver.call(name, *arguments)
    except DriverError as error:
        if error.code != OUT_OF_MEMORY:
            raise
        words = "the device has too little memory for what judge and reference share"
        raise MemoryError(words) from None
