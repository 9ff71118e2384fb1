"""Memory that judge and reference share: the judge makes it, and makes more where it needs more."""

from __future__ import annotations

import fcntl
import mmap
import os
from typing import TYPE_CHECKING, Any

from campaigns.evaluator.reference.messages import Sent

if TYPE_CHECKING:
    import torch

# The reference has the file, too. So it cannot make the judge's reading fail by making it shorter.
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


def new_memory(size: int, device: torch.device) -> tuple[torch.Tensor, int]:
    """At least `size` new bytes, and the file to hand over, which the caller closes.

    Raises OSError, DriverError, MemoryError.
    """
    if device.type == "cuda":
        from campaigns.evaluator.reference.device_memory import ExportedMemory

        made = ExportedMemory(device, size)
        return made.bytes, made.file()
    fd = os.memfd_create("kopt-exchange", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, size)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, SEALS)
    return _mapped(fd, size), fd


def opened_memory(fd: int, size: int, device: torch.device) -> torch.Tensor:
    """The bytes of memory that another process has made. Raises OSError, DriverError."""
    if device.type == "cuda":
        from campaigns.evaluator.reference.device_memory import ExportedMemory

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
