"""Limits that the kernel keeps over all processes of a runner together: memory and processes.

Only where this process may make control groups: as root, version 1, or version 2 where a group
with these controllers handed down is writable. Elsewhere `limits` and the warden's watch remain.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

MOUNT = Path("/sys/fs/cgroup")
MEMORY_FILES = ("memory.max", "memory.limit_in_bytes")
PROCESS_FILE = "pids.max"


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


def make(memory_bytes: int, most_processes: int) -> Groups:
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
        has_processes = _set(folder, (PROCESS_FILE,), most_processes)
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
