"""Folders of foreign code: emptied whatever is in them, and copied within bounds.

Whatever lies in them was written by code that no longer runs.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PREFIX = "kopt-runner"
# Of one whose warden was killed; the process may be one of another container that shares the disk.
KEPT_S = 24 * 3600.0
MIB = 1 << 20
# As ext4 reckons by default; a small file also takes about 1 KiB of the kernel's own memory.
BYTES_A_FILE = 16 * 1024
# Nobody becomes more by a file that was brought here: no user or group of its owner.
RIGHTS, OWN_RIGHTS = 0o777, 0o700
SHARED = Path("/dev/shm")


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


class OverRoom(Exception):
    """More is to be copied than there is room for, or it cannot be copied at all."""


@dataclass(frozen=True, slots=True)
class Room:
    """How much may lie in a folder, in sum."""

    most_bytes: int

    @property
    def most_files(self) -> int:
        return self.most_bytes // BYTES_A_FILE

    @property
    def options(self) -> str:
        """As mount options of a tmpfs. Only its owner makes names at its top."""
        return f"mode=755,size={self.most_bytes},nr_inodes={self.most_files}"

    def __str__(self) -> str:
        return f"{self.most_bytes // MIB:,} MiB and {self.most_files:,} files"

    def copy(self, source: Path, target: Path, uid: int | None) -> None:
        """Copy a folder's files, folders and links; `target` is made, and all in it this user's.

        Sizes are counted as they are told, so that neither holes nor second names of a file become
        more than the room elsewhere. Sockets and the like are left out. Raises OverRoom, OSError.
        """
        if not stat.S_ISDIR(os.lstat(source).st_mode):
            raise OverRoom(f"{source.name} is no folder")
        left = _Left(self.most_bytes, self.most_files)
        target.mkdir()
        _own(target, uid)
        pending = [(source, target)]
        try:
            while pending:
                pending += _copy_entries(*pending.pop(), uid, left)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise OverRoom("a path is too long to be copied") from None
            raise


def is_full(folder: str) -> bool:
    """Whether nothing more can be written to the file system of this folder."""
    found = os.statvfs(folder)
    return not found.f_bfree or not found.f_ffree


@dataclass(slots=True)
class _Left:
    size: int
    files: int

    def take(self, size: int) -> None:
        self.size -= size
        self.files -= 1
        if self.size < 0 or self.files < 0:
            raise OverRoom("there is no room for it")


def _copy_entries(
    source: Path, target: Path, uid: int | None, left: _Left
) -> list[tuple[Path, Path]]:
    """Copy what lies in a folder itself; the folders in it, made and still to be copied."""
    inner = []
    with os.scandir(source) as entries:
        for entry in entries:
            made, told = target / entry.name, entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(told.st_mode):
                left.take(0)
                made.mkdir()
                made.chmod(told.st_mode & RIGHTS | OWN_RIGHTS)
                inner.append((source / entry.name, made))
            elif stat.S_ISLNK(told.st_mode):
                left.take(0)
                made.symlink_to(os.readlink(entry.path))
            elif stat.S_ISREG(told.st_mode):
                left.take(told.st_size)
                shutil.copyfile(entry.path, made, follow_symlinks=False)
                made.chmod(told.st_mode & RIGHTS)
                # Tools such as make go by the order of these times.
                os.utime(made, ns=(told.st_atime_ns, told.st_mtime_ns))
            else:
                continue
            _own(made, uid)
    return inner


def _own(path: Path, uid: int | None) -> None:
    if uid is not None:
        os.chown(path, uid, uid, follow_symlinks=False)


def remove_shared_files(pids: Iterable[int]) -> None:
    """Remove the files in /dev/shm by which these processes shared a device's memory with others.

    Call when they have ended: where a process ends by itself its libraries remove them, and ours
    are killed. CUDA's are named cuda.shm.<user>.<process, in hexadecimal digits>.<number>, those in
    which torch counts the users of a memory torch_<process>_<number>_<number>.
    """
    for pid in pids:
        for pattern in (f"cuda.shm.*.{pid:x}.*", f"torch_{pid}_*_*"):
            for path in SHARED.glob(pattern):
                with contextlib.suppress(OSError):
                    path.unlink()
