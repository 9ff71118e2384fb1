"""Device memory that is handed to another process as a file descriptor.

Unlike a handle of CUDA's interprocess calls it can be opened by another user, and under a lock that
is closed. https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__VA.html
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_int, c_size_t, c_ubyte, c_uint64, c_ushort, c_void_p
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

PINNED, AS_FILE, ON_DEVICE, READ_WRITE = 1, 1, 1, 3
NO_FLAGS, ANYWHERE, LEAST_UNIT = 0, 0, 0


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


ARGUMENTS = {
    "cuMemGetAllocationGranularity": (POINTER(c_size_t), POINTER(_Wanted), c_int),
    "cuMemCreate": (POINTER(c_uint64), c_size_t, POINTER(_Wanted), c_uint64),
    "cuMemExportToShareableHandle": (POINTER(c_int), c_uint64, c_int, c_uint64),
    "cuMemImportFromShareableHandle": (POINTER(c_uint64), c_void_p, c_int),
    "cuMemAddressReserve": (POINTER(c_uint64), c_size_t, c_size_t, c_uint64, c_uint64),
    "cuMemMap": (c_uint64, c_size_t, c_size_t, c_uint64, c_uint64),
    "cuMemSetAccess": (c_uint64, c_size_t, POINTER(_Access), c_size_t),
    "cuMemUnmap": (c_uint64, c_size_t),
    "cuMemAddressFree": (c_uint64, c_size_t),
    "cuMemRelease": (c_uint64,),
}


@cache
def _driver() -> ctypes.CDLL:
    library = ctypes.CDLL("libcuda.so.1")
    for name, types in ARGUMENTS.items():
        getattr(library, name).argtypes = types
    return library


def _do(name: str, *arguments: Any) -> None:
    if code := getattr(_driver(), name)(*arguments):
        raise OSError(None, f"the GPU's driver refuses {name} ({code})")


class ExportedMemory:
    """An allocation that is mapped here for as long as this object, or a tensor of it, lives."""

    def __init__(self, device: torch.device, size: int, fd: int | None = None) -> None:
        """fd: the file of an allocation of `size` bytes; None makes one. Raises OSError."""
        self._device = device
        self._at, self._handle = c_uint64(), c_uint64()
        here = _Location(ON_DEVICE, device.index or 0)
        wanted = _Wanted(PINNED, AS_FILE, here)
        unit = c_size_t()
        _do("cuMemGetAllocationGranularity", unit, wanted, LEAST_UNIT)
        self.size = -(-size // unit.value) * unit.value
        if fd is None:
            _do("cuMemCreate", self._handle, self.size, wanted, NO_FLAGS)
        else:
            _do("cuMemImportFromShareableHandle", self._handle, fd, AS_FILE)
        _do("cuMemAddressReserve", self._at, self.size, ANYWHERE, ANYWHERE, NO_FLAGS)
        _do("cuMemMap", self._at.value, self.size, 0, self._handle.value, NO_FLAGS)
        _do("cuMemSetAccess", self._at.value, self.size, _Access(here, READ_WRITE), 1)

    def __del__(self) -> None:
        driver = _driver()
        if self._at.value:
            driver.cuMemUnmap(self._at.value, self.size)
            driver.cuMemAddressFree(self._at.value, self.size)
        if self._handle.value:
            driver.cuMemRelease(self._handle.value)

    def file(self) -> int:
        """A file descriptor by which another process can open it. Raises OSError."""
        fd = c_int()
        _do("cuMemExportToShareableHandle", fd, self._handle.value, AS_FILE, NO_FLAGS)
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
