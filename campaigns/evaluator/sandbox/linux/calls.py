"""Linux calls that Python 3.11 has no name for, through libc. Each raises OSError."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable
from typing import Any

from campaigns.evaluator.sandbox.linux.numbers import number

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2

ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV, ATTR_NOEXEC = 1, 2, 4, 8
AT_FDCWD = -100
AT_RECURSIVE = 0x8000

ADDR_NO_RANDOMIZE = 0x0040000

PR_SET_DUMPABLE = 4
PR_CAPBSET_READ = 23
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
CAPABILITY_VERSION = 0x20080522
CAP_KILL, CAP_SYS_PTRACE, CAP_SYS_NICE = 5, 19, 23

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), what)
    return result


def system_call(name: str, *arguments: Any) -> int:
    """A system call by its name; integers are passed as they are, structures by reference."""
    values = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    _libc.syscall.restype = ctypes.c_long
    return _checked(_libc.syscall(ctypes.c_long(number(name)), *values), name)


def prctl(option: int, *arguments: int) -> int:
    values = [ctypes.c_ulong(a) for a in (*arguments, 0, 0, 0, 0)[:4]]
    return _checked(_libc.prctl(option, *values), f"prctl {option}")


def keep_addresses_fixed() -> None:
    """Have the programs that this process becomes mapped at addresses that are always the same.

    A container may refuse that; then nothing is changed.
    """
    _libc.personality(ctypes.c_ulong(ADDR_NO_RANDOMIZE))


def unshare(flags: int) -> None:
    _checked(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    encoded = [text.encode() or None for text in (source, target, kind)]
    result = _libc.mount(*encoded, ctypes.c_ulong(flags), data.encode() or None)
    _checked(result, f"mount {target}")


def set_mount_attributes(target: str, attributes: int, *, recursive: bool) -> None:
    """Add attributes to a mount and all below it; Linux 5.12."""
    structure = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
    flags = AT_RECURSIVE if recursive else 0
    path, size = ctypes.c_char_p(target.encode()), ctypes.sizeof(structure)
    system_call("mount_setattr", AT_FDCWD, path, flags, ctypes.byref(structure), size)


def make_root(folder: str) -> None:
    """Make `folder`, a mount point, the root of this mount namespace; the old root is gone."""
    os.chdir(folder)
    here = ctypes.c_char_p(b".")
    # The old root is stacked upon the new one and then taken off: no folder for it is needed.
    system_call("pivot_root", here, here)
    _checked(_libc.umount2(b".", MNT_DETACH), "umount2")
    os.chdir("/")


def set_host_name(name: str) -> None:
    _checked(_libc.sethostname(name.encode(), len(name)), "sethostname")


def drop_bounding_set() -> None:
    """No program started from here can gain a capability. Needs CAP_SETPCAP, else nothing to do."""
    for capability in range(64):
        try:
            if prctl(PR_CAPBSET_READ, capability) == 1:
                prctl(PR_CAPBSET_DROP, capability)
        except OSError as error:
            if capability == 0:
                raise OSError(error.errno, "capabilities cannot be dropped") from None
            return  # past the last capability of this kernel


def drop_capabilities(but: Iterable[int] = ()) -> None:
    """Give up all capabilities of this thread, and of every thread that it starts.

    but: those to keep, below 32.
    """
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    bits = sum(1 << number for number in but)
    # Effective, permitted and inheritable, first of the lower and then of the upper 32.
    sets = (ctypes.c_uint32 * 6)(bits, bits, 0, 0, 0, 0)
    system_call("capset", ctypes.byref(header), ctypes.byref(sets))


def in_child(attempt: Callable[[], None]) -> str:
    """Try something in a forked child; "" when it worked, else why not."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        said = "ended early"
        try:
            attempt()
            said = ""
        except (OSError, ValueError) as error:
            said = f"{getattr(error, 'filename', None) or type(error).__name__}: {error}"
        finally:
            os.write(write_end, said.encode()[:4000] or b"\0")
            os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        answer = pipe.read(4096)
    os.waitpid(child, 0)
    return answer.decode().strip("\0") if answer else "ended by a signal"
