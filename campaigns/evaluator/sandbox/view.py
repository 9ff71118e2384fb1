"""A runner's own file system: what it needs, read-only, and small private folders to write in.

Built in a new mount namespace while the process is single-threaded; the old root is taken off, so
that what is not listed in `places` has no path at all. Threads that a device driver starts later
inherit it: unlike Landlock this holds for every thread of the runner.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Container, Iterable
from pathlib import Path

from campaigns.evaluator.sandbox.layers import Layer
from campaigns.evaluator.sandbox.linux import calls
from campaigns.evaluator.sandbox.linux.calls import (
    ATTR_NODEV,
    ATTR_NOEXEC,
    ATTR_NOSUID,
    ATTR_RDONLY,
    MS_BIND,
    MS_NODEV,
    MS_NOSUID,
    MS_PRIVATE,
    MS_REC,
)

SCRATCH = Path("/tmp/runner")
# Where a project's harness finds its files: the same place for each of its trees.
WORK = "/harness"
TEMPORARY = "/tmp"
SHARED = "/dev/shm"
# Sizes of the private folders. Triton's cache and nvcc's intermediate files take tens of MiB.
SCRATCH_BYTES = 1 << 30
SHARED_BYTES = 1 << 30
FILES = 20_000
SHARED_OPTIONS = f"mode=1777,size={SHARED_BYTES},nr_inodes={FILES}"
LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
HOST_NAME = "runner"
FLAGS = {
    Layer.NETWORK: calls.CLONE_NEWNET,
    Layer.MOUNTS: calls.CLONE_NEWNS,
    Layer.HOSTNAME: calls.CLONE_NEWUTS,
    Layer.IPC: calls.CLONE_NEWIPC,
}


def build_view(
    paths: Iterable[Path],
    owner: tuple[int, int],
    *,
    fresh_proc: bool,
    shared: bool,
    work: str = "",
    kept: Iterable[Path] = (),
) -> None:
    """Show `paths` alone to this process, read-only, and `SCRATCH`, owned by `owner`.

    Needs a new mount namespace. fresh_proc: mount a /proc of this PID namespace that shows only
    processes of the same user; else the host's is bound. shared: leave the host's /dev/shm for now,
    through which CUDA opens another process's memory; `cover_shared` ends that. work: how large an
    empty folder at `WORK` is, as mount options; "" for none. kept: folders to be written in, shown
    where they are. Raises OSError.
    """
    calls.mount("", "/", flags=MS_REC | MS_PRIVATE)
    # Held open before anything is covered: the new root is built upon /tmp, which may hold some.
    flags = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
    sources = [(path, os.open(path, flags)) for path in paths]
    kept_sources = [(path, os.open(path, flags)) for path in kept]
    _private_folder(TEMPORARY, "mode=755,size=1m")
    root = TEMPORARY
    for folder in ("tmp", "dev/shm", "proc", "etc"):
        os.makedirs(f"{root}/{folder}", mode=0o755)
    _private_folder(root + TEMPORARY, f"mode=1777,size={SCRATCH_BYTES},nr_inodes={FILES}")
    if shared:
        calls.mount(SHARED, root + SHARED, flags=MS_BIND)
    else:
        _private_folder(root + SHARED, SHARED_OPTIONS)
    for path, handle in sources:
        _bind(handle, path, root)
        os.close(handle)
    if work:
        os.mkdir(root + WORK)
        _private_folder(root + WORK, work)
    for path, handle in kept_sources:
        target = root + str(path)
        os.makedirs(target, exist_ok=True)
        calls.mount(f"/proc/self/fd/{handle}", target, flags=MS_BIND)
        calls.set_mount_attributes(target, ATTR_NOSUID | ATTR_NODEV, recursive=False)
        os.close(handle)
    mount_proc(f"{root}/proc", fresh=fresh_proc)
    for name, target in LINKS.items():
        os.symlink(target, f"{root}/dev/{name}")
    # Names for the few ids that occur; the host's lists of users stay outside.
    (uid, gid), home = owner, f"{SCRATCH}:/bin/false"
    passwd = f"root:x:0:0::/:/bin/false\nrunner:x:{uid}:{gid}::{home}\n"
    Path(root, "etc/passwd").write_text(passwd)
    Path(root, "etc/group").write_text(f"root:x:0:\nrunner:x:{gid}:\n")
    os.mkdir(root + str(SCRATCH), mode=0o700)
    os.chown(root + str(SCRATCH), *owner)
    calls.set_mount_attributes(root, ATTR_RDONLY | ATTR_NOSUID, recursive=False)
    calls.make_root(root)


def cover_shared() -> None:
    """Put a private folder over the host's /dev/shm, for all threads. Raises OSError."""
    _private_folder(SHARED, SHARED_OPTIONS)


def _private_folder(path: str, options: str) -> None:
    calls.mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options)


def _bind(handle: int, path: Path, root: str) -> None:
    """Show an opened file, folder or link under the same name below `root`."""
    mode = os.fstat(handle).st_mode
    target = Path(root + str(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    if stat.S_ISLNK(mode):
        target.symlink_to(os.readlink("", dir_fd=handle))
        return
    if stat.S_ISDIR(mode):
        target.mkdir(exist_ok=True)
    else:
        target.touch()
    calls.mount(f"/proc/self/fd/{handle}", str(target), flags=MS_BIND | MS_REC)
    own = ATTR_NOEXEC if stat.S_ISCHR(mode) else ATTR_RDONLY | ATTR_NODEV
    calls.set_mount_attributes(str(target), own | ATTR_NOSUID, recursive=True)


def mount_proc(target: str, *, fresh: bool) -> None:
    if fresh:
        calls.mount("proc", target, "proc", MS_NOSUID | MS_NODEV | calls.MS_NOEXEC, "hidepid=2")
    else:
        calls.mount("/proc", target, flags=MS_BIND | MS_REC)
        calls.set_mount_attributes(target, ATTR_NOSUID | ATTR_NOEXEC, recursive=True)


def enter_user_namespace() -> None:
    """A user namespace in which an ordinary user may make the others. Raises OSError.

    The user keeps its own id in it, so that drivers see the owner of a GPU allocation as such.
    """
    uid, gid = os.getuid(), os.getgid()
    calls.unshare(calls.CLONE_NEWUSER)
    # The kernel takes no group map from an ordinary user while setgroups is allowed.
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")


def enter_process_namespace() -> None:
    """The next child is the first process of a PID namespace; all in it end with that child."""
    calls.unshare(calls.CLONE_NEWPID)


def enter_namespaces(layers: Container[Layer]) -> None:
    """Network without an interface, own mounts, host name and System V objects, as planned."""
    if flags := sum(flag for layer, flag in FLAGS.items() if layer in layers):
        calls.unshare(flags)
    if Layer.HOSTNAME in layers:
        calls.set_host_name(HOST_NAME)
