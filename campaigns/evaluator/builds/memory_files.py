"""Files that one process builds and another loads, handed over as memory that cannot change."""

from __future__ import annotations

import fcntl
import itertools
import os
import shutil
from pathlib import Path

SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
_loads = itertools.count()


def sealed(path: Path) -> int:
    """A memory file with what the file holds, which no process can change. Raises OSError."""
    fd = os.memfd_create("kopt-artefact", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with path.open("rb") as source, os.fdopen(os.dup(fd), "wb") as copy:
        shutil.copyfileobj(source, copy)
    # Whoever reads it shares this place in the file.
    os.lseek(fd, 0, os.SEEK_SET)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, SEALS)
    return fd


def empty() -> int:
    """A memory file for another process to fill."""
    return os.memfd_create("kopt-built", os.MFD_CLOEXEC)


def fill(fd: int, data: bytes) -> None:
    """Make `data` all that the file holds. Raises OSError."""
    os.ftruncate(fd, 0)
    view = memoryview(data)
    while view:
        view = view[os.pwrite(fd, view, len(data) - len(view)) :]


def held(fd: int, most: int) -> bytes:
    """What the file holds, at most so many bytes of it."""
    parts, have = [], 0
    while have < most and (part := os.pread(fd, min(most - have, 1 << 20), have)):
        parts.append(part)
        have += len(part)
    return b"".join(parts)


def loadable(fd: int) -> str:
    """A path by which the loader finds the file, another one at each call.

    The loader takes a name that it knows for the library that it has loaded under it. (A `Path`
    would make all of these names one.)
    """
    return f"/proc/self/{'./' * next(_loads)}fd/{fd}"
