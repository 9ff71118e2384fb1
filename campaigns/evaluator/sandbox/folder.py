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
from collections.abc import Iterable, Iterator
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
COPIED = (stat.S_IFDIR, stat.S_IFLNK, stat.S_IFREG)


def make(uid: int | None) -> Path:
    """A new folder of user `uid`, or of this process's; what was left long ago is removed."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}-*-*"):
        with contextlib.suppress(OSError):
            old = time.time() - left.stat(follow_symlinks=False).st_mtime > KEPT_S
            if old and not Path("/proc", left.name.split("-")[2]).exists():
                remove(left)
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
    """Remove all that is in it, as `remove` does. Raises OSError.

    One level at a time, with two open folders: what lies deeper is first moved up.
    """
    mark, moved = secrets.token_hex(8), 0
    with _opened(folder) as top:
        while names := _without_files(top):
            for name in names:
                with _opened(name, top) as handle:
                    for inner in _without_files(handle):
                        os.rename(inner, f"{mark}-{moved}", src_dir_fd=handle, dst_dir_fd=top)
                        moved += 1
                os.rmdir(name, dir_fd=top)


@contextlib.contextmanager
def _opened(folder: Path | str, within: int | None = None) -> Iterator[int]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=within)
    try:
        yield handle
    finally:
        os.close(handle)


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
        """Mount options of a tmpfs. Only its owner makes names at its top."""
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
        target.mkdir()
        _own(target, uid)
        pending, left_bytes, left_files = [(source, target)], self.most_bytes, self.most_files
        try:
            while pending:
                outer, into = pending.pop()
                with os.scandir(outer) as entries:
                    for entry in entries:
                        told = entry.stat(follow_symlinks=False)
                        left_bytes -= told.st_size if stat.S_ISREG(told.st_mode) else 0
                        left_files -= stat.S_IFMT(told.st_mode) in COPIED
                        if left_bytes < 0 or left_files < 0:
                            raise OverRoom("there is no room for it")
                        _copy_entry(entry, told, into / entry.name, uid)
                        if stat.S_ISDIR(told.st_mode):
                            pending.append((Path(entry.path), into / entry.name))
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise OverRoom("a path is too long to be copied") from None
            raise


def is_full(folder: str) -> bool:
    """Whether nothing more can be written to the file system of this folder."""
    found = os.statvfs(folder)
    return not found.f_bfree or not found.f_ffree


def _copy_entry(entry: os.DirEntry[str], told: os.stat_result, made: Path, uid: int | None) -> None:
    """Copy what is no socket or the like; of a folder not what lies in it."""
    if stat.S_ISDIR(told.st_mode):
        made.mkdir()
        made.chmod(told.st_mode & RIGHTS | OWN_RIGHTS)
    elif stat.S_ISLNK(told.st_mode):
        made.symlink_to(os.readlink(entry.path))
    elif stat.S_ISREG(told.st_mode):
        shutil.copyfile(entry.path, made, follow_symlinks=False)
        made.chmod(told.st_mode & RIGHTS)
        # Tools such as make go by the order of these times.
        os.utime(made, ns=(told.st_atime_ns, told.st_mtime_ns))
    else:
        return
    _own(made, uid)


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
