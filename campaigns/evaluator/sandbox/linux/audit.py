"""Count what a candidate tries that no kernel needs. Held by the warden, out of its reach.

Information for reviewers, never a defence: the calls fail with or without it, and a path that was
read from the candidate's memory may have been another one a moment later.
"""

from __future__ import annotations

import os
import posixpath
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from campaigns.evaluator.sandbox.linux import filters, numbers
from campaigns.evaluator.sandbox.linux import install as seccomp
from campaigns.evaluator.sandbox.linux.numbers import audit_architecture

# Paths are the candidate's own words, so there could be any number; calls have few names.
DISTINCT_PATHS = 64
PATH_SHOWN = 120
OTHER_PATHS = "other paths"
# What separates the notes from each other in a report.
SEPARATORS = ",×"
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
# What libraries look at in /proc; other processes and the rest of it are not needed.
OWN = (
    *(f"/proc/{name}" for name in ("self", "thread-self", "cpuinfo", "meminfo", "stat", "devices")),
    *("/proc/filesystems", "/proc/mounts", "/proc/modules", "/proc/driver/nvidia"),
    *("/proc/sys/kernel", "/proc/sys/vm", "/dev/null", "/dev/fd"),
)


class SystemCallAudit:
    """What was refused or tried by one runner: words and how often."""

    def __init__(
        self,
        readable: Iterable[Path],
        writable: Iterable[Path],
        working: Path,
        *,
        changes_files: bool = True,
    ) -> None:
        """changes_files: as in `filters.Permissions`."""
        self.counts: Counter[str] = Counter()
        self._paths: set[str] = set()
        self._changes_files = changes_files
        self._writable = tuple(map(str, writable))
        self._readable = (*map(str, readable), *self._writable, *OWN)
        self._working = str(working)
        self._names = numbers.names()
        self._architecture = audit_architecture()

    def answer(self, listener: int) -> None:
        """Take one waiting call from a listener, write it down and answer it."""
        waiting = seccomp.receive(listener)
        if waiting is None:
            return
        name = self._names.get(waiting.number, f"call {waiting.number}")
        if waiting.architecture != self._architecture or waiting.number & numbers.X32_BIT:
            self.note("a call of a foreign architecture")
            seccomp.refuse(listener, waiting)
        elif name in filters.PATHS:
            self._look(name, waiting)
            if self._changes_files or not filters.cuts(name, waiting.arguments):
                seccomp.let_pass(listener, waiting)
            else:
                seccomp.refuse(listener, waiting)
        else:
            self.note(name)
            seccomp.refuse(listener, waiting)

    def note(self, what: str, times: int = 1) -> None:
        """Count `what`, which no candidate may have worded."""
        self.counts[what] += times

    def _note_path(self, what: str) -> None:
        """Count `what`; beyond some different ones the rest is summed up."""
        if len(self._paths) < DISTINCT_PATHS:
            self._paths.add(what)
        self.counts[what if what in self._paths else OTHER_PATHS] += 1

    def _look(self, name: str, waiting: seccomp.Notification) -> None:
        path_at, flags_at = filters.PATHS[name]
        try:
            path = seccomp.text_at(waiting.pid, waiting.arguments[path_at])
        except OSError:
            return  # not an address: the call fails by itself
        writes = name not in filters.READ_ONLY
        if flags_at is not None:
            writes = bool(waiting.arguments[flags_at] & WRITING)
        whole = posixpath.normpath(posixpath.join(self._working, path))
        roots = self._writable if writes else self._readable
        if not any(whole == root or whole.startswith(f"{root}/") for root in roots):
            shown = "".join(c if _is_plain(c) else "?" for c in whole[:PATH_SHOWN])
            self._note_path(f"{name} {shown}{' to write' if writes and flags_at else ''}")


def _is_plain(character: str) -> bool:
    return character.isprintable() and character not in SEPARATORS
