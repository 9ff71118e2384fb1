"""What an evaluator could leave behind on a host, counted: processes, files, memory, groups.

Told apart from what others do on the same host: whatever loses its parent comes to this process
(`adopt_orphans`), temporary files go to a folder of this process alone, and memory or a file that
a process of somebody else has open is not counted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from campaigns.devices import nvml
from campaigns.devices.discover import Device
from campaigns.evaluator.contract.sandbox import HIGH_BLOCK, LOW_BLOCK

SHARED = Path("/dev/shm")
# Where everybody may write, and so could somebody who got out.
OPEN_FOLDERS = (Path("/tmp"), Path("/var/tmp"), SHARED)
GROUPS = Path("/sys/fs/cgroup")
# Python's own heap moves by some; a leak per evaluation does not stop here.
GROWTH_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Census:
    """By kind what has names, and what only has a number.

    processes: descendants of this process, zombies too. files: below the temporary folder, and what
    runners' users own where all may write. shared: names in /dev/shm. System V: objects. groups:
    control groups of processes that are no more. open files, mounts, resident bytes: of the
    service. GPU bytes: in use on the card, by anybody; 0 for a CPU.
    """

    names: dict[str, frozenset[str]]
    numbers: dict[str, int]

    def counts(self) -> dict[str, int]:
        return {name: len(found) for name, found in self.names.items()} | self.numbers


def take(device: Device, service: int, folder: Path) -> Census:
    """Count now. service: the process id of the evaluator service. folder: ours alone."""
    gpu_bytes = nvml.memory_used_bytes(device.uuid) if device.kind == "gpu" else 0
    me = os.getpid()
    family = {me, *descendants(me)}
    process = Path(f"/proc/{service}")
    resident = [line for line in _text(process / "status").splitlines() if "VmRSS:" in line]
    names = {
        "processes": (f"{pid} {_text(Path(f'/proc/{pid}/comm')).strip()}" for pid in family - {me}),
        "files": (*map(str, folder.rglob("*")), *_strays()),
        "shared": (path.name for path in _listed(SHARED) if not _is_used_by_others(path, family)),
        # Kind, key and id of every object; the columns after them change while it is used.
        "System V": (
            f"{kind} {' '.join(line.split()[:2])}"
            for kind in ("shm", "sem", "msg")
            for line in _text(Path("/proc/sysvipc") / kind).splitlines()[1:]
        ),
        # A group is named for the process that made it, which removes it.
        "groups": (
            str(path)
            for path in GROUPS.rglob("kopt-*")
            if path.is_dir() and not Path(f"/proc/{path.name.split('-')[1]}").exists()
        ),
    }
    return Census(
        names={kind: frozenset(found) for kind, found in names.items()},
        numbers={
            "open files": len(_listed(process / "fd")),
            "mounts": _text(process / "mountinfo").count("\n"),
            "resident bytes": int(resident[0].split()[1]) << 10 if resident else 0,
            "GPU bytes": gpu_bytes or 0,
        },
    )


def left_behind(before: Census, after: Census) -> dict[str, str]:
    """What is there now that was not: by kind, in words. Empty when nothing leaked."""
    found: dict[str, str] = {}
    for kind, names in after.names.items():
        if more := sorted(names - before.names[kind]):
            found[kind] = f"{len(more)} more: {', '.join(more[:5])}"
    for kind, number in after.numbers.items():
        allowed = GROWTH_BYTES if kind.endswith("bytes") else 0
        if number - before.numbers[kind] > allowed:
            found[kind] = f"{before.numbers[kind]} before, {number} after"
    return found


def descendants(pid: int) -> Iterator[int]:
    """Children, and theirs, also those that have ended and were not waited for."""
    for task in _listed(Path(f"/proc/{pid}/task")):
        for child in map(int, _text(task / "children").split()):
            yield child
            yield from descendants(child)


def _strays() -> Iterator[str]:
    for path in (path for folder in OPEN_FOLDERS for path in _listed(folder)):
        with suppress(OSError):
            owner = path.lstat().st_uid
            if owner in HIGH_BLOCK or owner in LOW_BLOCK:
                yield str(path)


def _is_used_by_others(path: Path, family: set[int]) -> bool:
    for process in _listed(Path("/proc")):
        if not process.name.isdigit() or int(process.name) in family:
            continue
        if str(path) in _text(process / "maps"):
            return True
        for handle in _listed(process / "fd"):
            with suppress(OSError):
                if os.readlink(handle) == str(path):
                    return True
    return False


def _text(path: Path) -> str:
    """Empty where it cannot be read: processes and files come and go."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
