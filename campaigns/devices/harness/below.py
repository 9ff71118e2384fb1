"""Files below a folder in which a candidate's code has run: no link of it is followed."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MODES = {False: 0o644, True: 0o755}


def read(root: Path, path: str, most_bytes: int) -> bytes | None:
    """What the file holds; None where there is none. Raises OSError for what is no plain file."""
    try:
        with _parent(root, path) as (folder, name):
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            handle = os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "is no plain file", path)
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"has more than {most_bytes >> 20} MiB", path)
    return data


def write(root: Path, path: str, data: bytes, *, executable: bool = False) -> None:
    """Make the file anew, with its folders. Raises OSError where something else is in the way."""
    with _parent(root, path, make=True) as (folder, name):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(name, flags, MODES[executable], dir_fd=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(data)


def remove(root: Path, path: str) -> None:
    """Remove the file, if there is one. Raises OSError."""
    with contextlib.suppress(FileNotFoundError), _parent(root, path) as (folder, name):
        os.unlink(name, dir_fd=folder)


@contextmanager
def _parent(root: Path, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """The folder of a file, held open, and the file's name in it."""
    *folders, name = path.split("/")
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(root, flags)
    try:
        for part in folders:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=handle)
            inner = os.open(part, flags, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle, name
    finally:
        os.close(handle)
