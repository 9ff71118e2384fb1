"""Functions of the NVIDIA driver that torch has no way to, called in this process's context.

Its library has one name, and is in every process that has started CUDA.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

PERSISTING_L2 = 6  # CU_LIMIT_PERSISTING_L2_CACHE_SIZE


class DriverError(RuntimeError):
    """The driver refused a call. code: its CUresult."""

    def __init__(self, name: str, code: int) -> None:
        super().__init__(f"{name} failed with CUDA error {code}")
        self.code = code


Driver = Callable[..., None]


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1")


def call(name: str, /, *arguments: Any) -> None:
    """Call a function of the driver by its name. Raises DriverError, OSError without a driver.

    Handles and sizes have to be ctypes' own, since a plain number has 32 bits.
    """
    if code := getattr(_library(), name)(*arguments):
        raise DriverError(name, code)


def release_cache(driver: Driver = call) -> None:
    """Take back what kernels had the last-level cache keep, and what is set aside for it.

    Older cards, a part of a card (MIG) and those of a shared service (MPS) have no such thing.
    """
    with contextlib.suppress(DriverError, OSError):
        driver("cuCtxResetPersistingL2Cache")
        driver("cuCtxSetLimit", PERSISTING_L2, ctypes.c_size_t(0))
