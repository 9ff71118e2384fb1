"""The seam between bootstrap and load: what is closed here stays closed for the candidate.

Called once per runner, after the device was started and the judge's memory was opened (both fail
under a lock) and before the candidate's first byte is read.
"""

from __future__ import annotations

import ctypes
import os
import resource
from pathlib import Path

PR_SET_NO_NEW_PRIVS = 38
FILE_BYTES = 1 << 30
OPEN_FILES = 1024
KEPT = (
    "PATH",
    "LD_LIBRARY_PATH",
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "LANG",
)


def lock_down(folder: Path) -> None:
    """No new privileges, limits on files and core dumps, a clean environment, home in `folder`."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    for name in list(os.environ):
        del os.environ[name]
    home = str(folder)
    os.environ.update(
        kept | {"HOME": home, "TMPDIR": home, "TRITON_CACHE_DIR": f"{home}/triton-cache"}
    )
    ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = OPEN_FILES if most == resource.RLIM_INFINITY else min(OPEN_FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
