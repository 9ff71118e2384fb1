"""What an evaluator could leave behind on a host, counted: processes, files, memory, groups.

Told apart from what others do on the same host: whatever loses its parent comes to this process
(`adopt_orphans`), temporary files go to a folder of this process alone, and memory or a file that
a process of somebody else has open is not counted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from campaigns.devices import nvml
from campaigns.devices.discover import Device
from campaigns.evaluator.sandbox.identity import HIGH_BLOCK, LOW_BLOCK

SHARED = Path("/dev/shm")
# Where everybody may write, and so could somebody who got out.
OPEN_FOLDERS = (Path("/tmp"), Path("/var/tmp"), SHARED)
SYSTEM_V = tuple(Path("/proc/sysvipc") / name for name in ("shm", "sem", "msg"))
GROUPS = Path("/sys/fs/cgroup")
# Python's own heap moves by some; a leak per evaluation does not stop here.
GROWTH_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Census:
    """processes: descendants of this process, zombies too. open_files: of the service. files: below
    the temporary folder and the scratch folder, plus what runners' users own where all may write.
    shared: names in /dev/shm. system_v: objects. groups: control groups of processes that are no
    more. mounts: that the service sees. resident_bytes: of the service. gpu_bytes: in use on
    the card, by anybody; 0 for a CPU."""

    processes: frozenset[str]
    open_files: int
    files: frozenset[str]
    shared: frozenset[str]
    system_v: frozenset[str]
    groups: frozenset[str]
    mounts: int
    resident_bytes: int
    gpu_bytes: int


def take(device: Device, service: int, folders: tuple[Path, ...]) -> Census:
    """Count now. service: the process id of the evaluator service. folders: ours alone."""
    load = nvml.load(device.uuid) if device.kind == "gpu" else None
    family = {os.getpid(), *descendants(os.getpid())}
    return Census(
        processes=frozenset(_named(pid) for pid in family - {os.getpid()}),
        open_files=len(_listed(Path(f"/proc/{service}/fd"))),
        files=frozenset({*_below(folders), *_strays()}),
        shared=frozenset(p.name for p in _listed(SHARED) if not _is_used_by_others(p, family)),
        system_v=frozenset(_system_v()),
        groups=frozenset(_dead_groups()),
        mounts=_lines(Path(f"/proc/{service}/mountinfo")),
        resident_bytes=_resident(service),
        gpu_bytes=load.memory_used_bytes if load else 0,
    )


def descendants(pid: int) -> Iterator[int]:
    """Children, and theirs, also those that have ended and were not waited for."""
    for task in _listed(Path(f"/proc/{pid}/task")):
        for child in map(int, _text(task / "children").split()):
            yield child
            yield from descendants(child)


def left_behind(before: Census, after: Census) -> dict[str, str]:
    """What is there now that was not: by kind, in words. Empty when nothing leaked."""
    found: dict[str, str] = {}
    for field in fields(Census):
        old, new = getattr(before, field.name), getattr(after, field.name)
        if isinstance(old, frozenset):
            if more := sorted(new - old):
                found[field.name] = f"{len(more)} more: {', '.join(more[:5])}"
        else:
            allowed = GROWTH_BYTES if field.name.endswith("_bytes") else 0
            if new - old > allowed:
                found[field.name] = f"{old} before, {new} after"
    return found


def counted(census: Census) -> dict[str, int]:
    """The census as numbers."""
    values = {field.name: getattr(census, field.name) for field in fields(Census)}
    return {n: len(v) if isinstance(v, frozenset) else v for n, v in values.items()}


def _named(pid: int) -> str:
    return f"{pid} {_text(Path(f'/proc/{pid}/comm')).strip()}"


def _below(folders: tuple[Path, ...]) -> Iterator[str]:
    for folder in folders:
        yield from (str(path) for path in folder.rglob("*"))


def _strays() -> Iterator[str]:
    for folder in OPEN_FOLDERS:
        for path in _listed(folder):
            owner = _owner(path)
            if owner in HIGH_BLOCK or owner in LOW_BLOCK:
                yield str(path)


def _system_v() -> Iterator[str]:
    """Kind, key and id of every object; the columns after them change while it is used."""
    for path in SYSTEM_V:
        for line in _text(path).splitlines()[1:]:
            yield f"{path.name} {' '.join(line.split()[:2])}"


def _dead_groups() -> Iterator[str]:
    """A group is named for the process that made it, which removes it."""
    for path in GROUPS.rglob("kopt-*"):
        maker = path.name.split("-")[1]
        if path.is_dir() and not Path(f"/proc/{maker}").exists():
            yield str(path)


def _is_used_by_others(path: Path, family: set[int]) -> bool:
    for process in _listed(Path("/proc")):
        if not process.name.isdigit() or int(process.name) in family:
            continue
        if str(path) in _text(process / "maps"):
            return True
        if any(_target(handle) == str(path) for handle in _listed(process / "fd")):
            return True
    return False


def _resident(pid: int) -> int:
    for line in _text(Path(f"/proc/{pid}/status")).splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    return 0


def _lines(path: Path) -> int:
    return _text(path).count("\n")


def _text(path: Path) -> str:
    """Empty where it can not be read: processes and files come and go."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _owner(path: Path) -> int:
    try:
        return path.lstat().st_uid
    except OSError:
        return -1


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""
