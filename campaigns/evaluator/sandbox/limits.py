"""What one runner may use: processes, memory, files, processor time. Only ever lowered.

Memory and processes of all that a runner starts are bounded together by the kernel, but only where
this process may make control groups: as root, version 1, or version 2 where a group with these
controllers handed down is writable. Elsewhere the other limits and the warden's watch remain.
"""

from __future__ import annotations

import contextlib
import os
import resource
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

MIB = 1 << 20
FILE_BYTES = 1 << 30
# Each may stand in other lists of what is waited for, so that many would keep the kernel busy while
# their process is stopped. A GPU's driver opens hundreds.
OPEN_FILES = {"cpu": 128, "cuda": 1024}
# Timers and queued signals, by which the same could be done.
PENDING_SIGNALS = 64
# Threads count as processes. An OpenMP team has one per core, a driver a few, a compiler some more.
THREADS_AT_LEAST = 512
THREADS_PER_CORE = 8
LOCKED_BYTES = 64 * MIB
COMPILER_BYTES = 8 << 30
WATCHED_STACK_BYTES = 256 * MIB
LEAST_MEMORY = 512 * MIB
# In a user namespace of its own an ordinary user's count starts afresh, from this kernel on.
COUNTS_PER_NAMESPACE = (5, 14)
MOUNT = Path("/sys/fs/cgroup")
MEMORY_FILES = ("memory.max", "memory.limit_in_bytes")
PROCESS_FILE = "pids.max"


def most_threads() -> int:
    return max(THREADS_AT_LEAST, THREADS_PER_CORE * (os.cpu_count() or 1))


def memory_limit(asked_bytes: int) -> int:
    """What was asked for, else half of this host's memory."""
    half = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return max(LEAST_MEMORY, asked_bytes or half)


def limit_runner(
    total_s: float,
    kind: str,
    *,
    own_count: bool,
    address_bytes: int | None,
    file_bytes: int = FILE_BYTES,
) -> None:
    """Limits of a runner and of all it starts.

    total_s: the limit of the whole evaluation; every core may be busy that long. kind: of device,
    "cpu" or "cuda". own_count: no other process counts as this user's. address_bytes: what
    the runner may still map on top of what it has; None on a GPU, whose driver reserves hundreds of
    GiB of addresses. file_bytes: the largest file.
    """
    cores = os.cpu_count() or 1
    # One byte, too little for a file: at 0 a host's handler of cores would still be started.
    _lower(resource.RLIMIT_CORE, 1)
    _lower(resource.RLIMIT_FSIZE, file_bytes)
    _lower(resource.RLIMIT_NOFILE, OPEN_FILES[kind])
    if own_count and kind == "cpu":
        _lower(resource.RLIMIT_SIGPENDING, PENDING_SIGNALS)
    _lower(resource.RLIMIT_MEMLOCK, LOCKED_BYTES)
    _lower(resource.RLIMIT_MSGQUEUE, 0)
    _lower(resource.RLIMIT_NICE, 0)
    _lower(resource.RLIMIT_RTPRIO, 0)
    _lower(resource.RLIMIT_CPU, int(total_s * (cores + 1)) + 60)
    others = 0 if own_count else _processes_of(os.getuid())
    _lower(resource.RLIMIT_NPROC, most_threads() + others)
    if address_bytes is not None:
        mapped_pages = int(Path("/proc/self/statm").read_text().split()[0])
        mapped_bytes = mapped_pages * os.sysconf("SC_PAGE_SIZE")
        _lower(resource.RLIMIT_AS, mapped_bytes + address_bytes)
    os.umask(0o077)


def limit_compiler(seconds: float, memory_bytes: int) -> None:
    """Limits of one compiler process, on top of those of its runner."""
    _lower(resource.RLIMIT_CPU, int(seconds) + 1)
    _lower(resource.RLIMIT_AS, min(COMPILER_BYTES, memory_bytes))


def limit_watched(seconds: float) -> None:
    """Limits of a program with a sanitizer in it, on top of those of its runner.

    Its frames are larger than those of a plain build, so its stack may be as well.
    """
    _lower(resource.RLIMIT_CPU, int(seconds * (os.cpu_count() or 1)) + 1)
    _lower(resource.RLIMIT_STACK, WATCHED_STACK_BYTES)


def counts_are_per_namespace() -> bool:
    release = os.uname().release.split(".")
    return (int(release[0]), int(release[1].partition("-")[0])) >= COUNTS_PER_NAMESPACE


def resident_below(pid: int) -> int:
    """Bytes in memory of all that descends from this process, as its /proc counts processes.

    Pages that several share are counted for each.
    """
    pages = 0
    for below in with_descendants(pid)[1:]:
        with contextlib.suppress(OSError, IndexError):  # it has just ended
            pages += int(Path(f"/proc/{below}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def with_descendants(pid: int) -> list[int]:
    """Its number and those of all that descends from it, as this process's /proc has them."""
    found = [pid]
    for parent in found:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{parent}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found


def _lower(kind: int, to: int) -> None:
    _, most = resource.getrlimit(kind)
    if most != resource.RLIM_INFINITY:
        to = min(to, most)
    resource.setrlimit(kind, (to, to))


def _processes_of(uid: int) -> int:
    count = 0
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):  # it has just ended
            if entry.name.isdigit() and entry.stat().st_uid == uid:
                count += len(os.listdir(entry / "task"))
    return count


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of one runner; version 1 has one per controller. memory: whether it is bounded."""

    folders: tuple[Path, ...]
    memory: bool
    processes: bool

    def enter(self) -> None:
        """Put this process, and whatever it starts, into the groups. Raises OSError."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text("0")

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel ended a process here because the group was over its limit."""
        events = ("memory.events", "memory.oom_control")
        return any(_counter(f / name, "oom_kill") for f in self.folders for name in events)

    def refused_processes(self) -> int:
        """How often a process or thread was not started because there were too many."""
        return sum(_counter(folder / "pids.events", "max") for folder in self.folders)

    def remove(self) -> None:
        """Remove the groups; the kernel refuses while the last process is still being ended."""
        for folder in self.folders:
            for _ in range(100):
                with contextlib.suppress(FileNotFoundError):
                    try:
                        folder.rmdir()
                    except OSError:
                        time.sleep(0.01)
                        continue
                break


def make_groups(memory_bytes: int) -> Groups:
    """New groups with these limits as far as this host lets us; none of them may be left out."""
    name = f"kopt-{os.getpid()}-{secrets.token_hex(4)}"
    folders, memory, processes = [], False, False
    for parent in _parents():
        # What killed wardens left; the kernel refuses for a group that has processes.
        for left in parent.glob("kopt-*-*"):
            if not Path("/proc", left.name.split("-")[1]).exists():
                with contextlib.suppress(OSError):
                    left.rmdir()
        folder = parent / name
        try:
            folder.mkdir()
        except OSError:
            continue
        has_memory = _set(folder, MEMORY_FILES, memory_bytes)
        has_processes = _set(folder, (PROCESS_FILE,), most_threads())
        if not has_memory and not has_processes:
            folder.rmdir()
            continue
        folders.append(folder)
        memory, processes = memory or has_memory, processes or has_processes
    return Groups(tuple(folders), memory, processes)


def _parents() -> list[Path]:
    """Groups in which a group with a memory or process limit could be made, own ones first."""
    found = []
    for line in _text(Path("/proc/self/cgroup")).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers in ("memory", "pids"):
            base = MOUNT / controllers
            own = base / path.lstrip("/")
            found.append(own if own.is_dir() else base)
        elif not controllers:
            own = MOUNT / path.lstrip("/")
            for folder in (own, *own.parents):
                handed_down = _text(folder / "cgroup.subtree_control").split()
                if has_both := {"memory", "pids"} <= {*handed_down}:
                    found.append(folder)
                if has_both or folder == MOUNT:
                    break
    return found


def _set(folder: Path, names: tuple[str, ...], value: int) -> bool:
    for name in names:
        with contextlib.suppress(OSError):
            if (folder / name).exists():
                (folder / name).write_text(str(value))
                return True
    return False


def _counter(path: Path, name: str) -> int:
    fields = (line.split() for line in _text(path).splitlines())
    return next((int(line[1]) for line in fields if len(line) == 2 and line[0] == name), 0)


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
