"""Install a filter on all threads of this process, and answer for it from outside.

A call with the verdict NOTIFY waits until the holder of the listener has answered. The listener
goes to the warden before the candidate's first byte, and is closed here: a candidate that held it
could answer its own calls. When the warden has gone every such call fails with ENOSYS.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import struct
from dataclasses import dataclass

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


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


class _Span(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


@dataclass(frozen=True, slots=True)
class Notification:
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


def receive(listener: int) -> Notification | None:
    """The next waiting call; None when it has gone meanwhile."""
    buffer = bytearray(NOTIFICATION.size)
    try:
        fcntl.ioctl(listener, RECEIVE, buffer)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.EINTR):
            return None
        raise
    identity, pid, _, number, architecture, _, *arguments = NOTIFICATION.unpack(buffer)
    return Notification(identity, pid, number, architecture, tuple(arguments))


def refuse(listener: int, waiting: Notification) -> None:
    _answer(listener, RESPONSE.pack(waiting.identity, 0, -errno.EPERM, 0))


def let_pass(listener: int, waiting: Notification) -> None:
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
