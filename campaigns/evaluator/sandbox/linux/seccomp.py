"""Install a filter on all threads of this process, and answer for it from outside: the audit.

A call with the verdict NOTIFY waits until the holder of the listener has answered. The listener
goes to the warden before the candidate's first byte, and is closed here: a candidate that held it
could answer its own calls. When the warden has gone every such call fails with ENOSYS.

The audit counts what a candidate tries that no kernel needs, out of its reach. That is information
for reviewers, never a defence: the calls fail with or without it, and a path that was read from the
candidate's memory may have been another one a moment later.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import posixpath
import struct
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from campaigns.evaluator.sandbox.linux import filters, numbers
from campaigns.evaluator.sandbox.linux.calls import system_call

SET_MODE_FILTER = 1
# SPEC_ALLOW: before Linux 5.16 a filter slowed all code down by a mitigation that measuring must
# not have. TSYNC: all threads, those of a driver too, or an error that names one.
TSYNC, SPEC_ALLOW, NEW_LISTENER, TSYNC_ESRCH = 1, 4, 8, 16

RECEIVE, SEND = 0xC0502100, 0xC0182101
NOTIFICATION = struct.Struct("<QIIiIQ6Q")
RESPONSE = struct.Struct("<QqiI")
CONTINUE = 1
PATH_BYTES = 4096

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


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


class _Span(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


@dataclass(frozen=True, slots=True)
class WaitingCall:
    """One call that waits for an answer. pid: its thread, as this process sees it."""

    identity: int
    pid: int
    number: int
    architecture: int
    arguments: tuple[int, ...]


def install(program: bytes, *, listen: bool) -> int | None:
    """Filter all threads from now on. Needs no_new_privs. Raises OSError.

    Returns the listener when asked to `listen`.
    """
    code = ctypes.create_string_buffer(program, len(program))
    filter_ = _Program(len(program) // 8, ctypes.addressof(code))
    flags = TSYNC | SPEC_ALLOW
    if listen:
        flags |= NEW_LISTENER | TSYNC_ESRCH
    result = system_call("seccomp", SET_MODE_FILTER, flags, ctypes.byref(filter_))
    if not listen and result:
        raise OSError(errno.ESRCH, f"thread {result} could not be filtered")
    return result if listen else None


def receive(listener: int) -> WaitingCall | None:
    """The next waiting call; None when it has gone meanwhile."""
    buffer = bytearray(NOTIFICATION.size)
    try:
        fcntl.ioctl(listener, RECEIVE, buffer)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.EINTR):
            return None
        raise
    identity, pid, _, number, architecture, _, *arguments = NOTIFICATION.unpack(buffer)
    return WaitingCall(identity, pid, number, architecture, tuple(arguments))


def refuse(listener: int, waiting: WaitingCall) -> None:
    _answer(listener, RESPONSE.pack(waiting.identity, 0, -errno.EPERM, 0))


def let_pass(listener: int, waiting: WaitingCall) -> None:
    """Let the kernel do the call as it would without a filter: other layers decide."""
    _answer(listener, RESPONSE.pack(waiting.identity, 0, 0, CONTINUE))


def _answer(listener: int, response: bytes) -> None:
    try:
        fcntl.ioctl(listener, SEND, bytearray(response))
    except OSError as error:
        if error.errno != errno.ENOENT:
            raise


def text_at(pid: int, address: int) -> str:
    """A C string in another process. Raises OSError when it may not be read."""
    room = ctypes.create_string_buffer(PATH_BYTES)
    here = _Span(ctypes.addressof(room), PATH_BYTES)
    # Up to the end of the page first: the next one may not be mapped.
    to_page_end = PATH_BYTES - address % PATH_BYTES
    found = b""
    for start, length in ((address, to_page_end), (address + to_page_end, PATH_BYTES)):
        there = _Span(start, min(length, PATH_BYTES))
        try:
            got = system_call(
                "process_vm_readv", pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0
            )
        except OSError:
            if found:
                break
            raise
        found += room.raw[:got]
        if b"\0" in found:
            break
    return found.partition(b"\0")[0].decode("utf-8", "replace")


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
        self._architecture = numbers.audit_architecture()

    def answer(self, listener: int) -> None:
        """Take one waiting call from a listener, write it down and answer it."""
        waiting = receive(listener)
        if waiting is None:
            return
        name = self._names.get(waiting.number, f"call {waiting.number}")
        if waiting.architecture != self._architecture or waiting.number & numbers.X32_BIT:
            self.note("a call of a foreign architecture")
            refuse(listener, waiting)
        elif name in filters.PATHS:
            self._look(name, waiting)
            if self._changes_files or not filters.cuts(name, waiting.arguments):
                let_pass(listener, waiting)
            else:
                refuse(listener, waiting)
        else:
            self.note(name)
            refuse(listener, waiting)

    def note(self, what: str, times: int = 1) -> None:
        """Count `what`, which no candidate may have worded."""
        self.counts[what] += times

    def _look(self, name: str, waiting: WaitingCall) -> None:
        path_at, flags_at = filters.PATHS[name]
        try:
            path = text_at(waiting.pid, waiting.arguments[path_at])
        except OSError:
            return  # not an address: the call fails by itself
        writes = name not in filters.READ_ONLY
        if flags_at is not None:
            writes = bool(waiting.arguments[flags_at] & WRITING)
        whole = posixpath.normpath(posixpath.join(self._working, path))
        roots = self._writable if writes else self._readable
        if any(whole == root or whole.startswith(f"{root}/") for root in roots):
            return
        bare = (c if c.isprintable() and c not in SEPARATORS else "?" for c in whole)
        shown = "".join(bare)[:PATH_SHOWN]
        what = f"{name} {shown}{' to write' if writes and flags_at else ''}"
        # Beyond some different ones the rest is summed up.
        if len(self._paths) < DISTINCT_PATHS:
            self._paths.add(what)
        self.counts[what if what in self._paths else OTHER_PATHS] += 1
