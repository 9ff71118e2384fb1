"""A scratch folder: emptied whatever is in it, and made on disk for a runner without a view."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
import time
from pathlib import Path

PREFIX = "kopt-runner"
# Of one whose warden was killed; the process may be one of another container that shares the disk.
KEPT_S = 24 * 3600.0


def make(uid: int | None) -> Path:
    """A new folder of user `uid`, or of this process's; what was left long ago is removed."""
    _sweep(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}-{os.getpid()}-"))
    if uid is not None:
        os.chown(folder, uid, uid)
    return folder


def remove(folder: Path) -> None:
    """Remove it with all that a candidate may have made in it, however deep and without any rights.

    Only when no process is left that could put a link into the way.
    """
    with contextlib.suppress(OSError):
        clear(folder)
        folder.rmdir()


def clear(folder: Path) -> None:
    """Remove all that is in it, as `remove` does. Raises OSError."""
    top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        _empty(top)
    finally:
        os.close(top)


def _empty(top: int) -> None:
    """One level at a time, with two open folders: what lies deeper is first moved up."""
    mark, moved = secrets.token_hex(8), 0
    while names := _without_files(top):
        for name in names:
            handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
            try:
                for inner in _without_files(handle):
                    os.rename(inner, f"{mark}-{moved}", src_dir_fd=handle, dst_dir_fd=top)
                    moved += 1
            finally:
                os.close(handle)
            os.rmdir(name, dir_fd=top)


def _without_files(handle: int) -> list[str]:
    """Remove whatever is no folder; the names of the folders, made such that they may be moved."""
    found = []
    with os.scandir(handle) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                os.chmod(entry.name, 0o700, dir_fd=handle)
                found.append(entry.name)
            else:
                os.unlink(entry.name, dir_fd=handle)
    return found


def _sweep(place: Path) -> None:
    for left in place.glob(f"{PREFIX}-*-*"):
        with contextlib.suppress(OSError):
            old = time.time() - left.stat(follow_symlinks=False).st_mtime > KEPT_S
            if old and not Path("/proc", left.name.split("-")[2]).exists():
                remove(left)
