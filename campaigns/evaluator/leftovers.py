"""What CUDA leaves on a host of a process that had no time to clean up after itself."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

SHARED = Path("/dev/shm")


def remove_cuda_files(pids: Iterable[int]) -> None:
    """Remove the files in /dev/shm by which CUDA shares memory of these processes with others.

    Call when they have ended: CUDA removes them itself where a process ends by itself, and ours are
    killed. They are named cuda.shm.<user>.<process, in hexadecimal digits>.<number>.
    """
    for pid in pids:
        for path in SHARED.glob(f"cuda.shm.*.{pid:x}.*"):
            with contextlib.suppress(OSError):
                path.unlink()
