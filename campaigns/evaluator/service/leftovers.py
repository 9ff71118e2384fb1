"""What CUDA and torch leave on a host of a process that had no time to clean up after itself."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

SHARED = Path("/dev/shm")


def remove_shared_files(pids: Iterable[int]) -> None:
    """Remove the files in /dev/shm by which these processes shared a device's memory with others.

    Call when they have ended: where a process ends by itself its libraries remove them, and ours
    are killed. CUDA's are named cuda.shm.<user>.<process, in hexadecimal digits>.<number>, those in
    which torch counts who uses a memory torch_<process>_<number>_<number>.
    """
    for pid in pids:
        for pattern in (f"cuda.shm.*.{pid:x}.*", f"torch_{pid}_*_*"):
            for path in SHARED.glob(pattern):
                with contextlib.suppress(OSError):
                    path.unlink()
