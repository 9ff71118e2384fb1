"""Landlock: a thread, and all it starts, may read the system and write its scratch folder.

It binds the calling thread and its descendants only. On a CPU the runner has one thread when this
is applied, so it binds all of it. On a GPU the driver has started threads by then, and code that
gets into one of them is held by the view, the user id and seccomp instead, which bind them all.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

from campaigns.evaluator.sandbox.linux.calls import system_call

VERSION = 1
RULE_PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
# How many file rights each version knows, from the first to the fifth; later ones added no more.
FILE_RIGHTS = (13, 14, 15, 15, 16)
BIND_TCP, CONNECT_TCP = 1 << 0, 1 << 1
ABSTRACT_SOCKETS, SIGNALS = 1 << 0, 1 << 1
READ = EXECUTE | READ_FILE | READ_DIR
OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """The Landlock version of the running kernel. Raises OSError where there is none."""
    return system_call("landlock_create_ruleset", 0, 0, VERSION)


def restrict(readable: Iterable[Path], devices: Iterable[Path], writable: Iterable[Path]) -> int:
    """Bind this thread to these paths, and from the network and others' signals; the version.

    Needs no_new_privs. Paths that do not exist are left out. Raises OSError.
    """
    abi = version()
    files = (1 << FILE_RIGHTS[min(abi, len(FILE_RIGHTS)) - 1]) - 1
    network = BIND_TCP | CONNECT_TCP if abi >= 4 else 0
    scoped = ABSTRACT_SOCKETS | SIGNALS if abi >= 6 else 0
    rules = _Ruleset(files, network, scoped)
    # Older kernels refuse a structure that says more than they know.
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    ruleset = system_call("landlock_create_ruleset", ctypes.byref(rules), size, 0)
    try:
        for paths, rights in (
            (readable, READ),
            (devices, READ_FILE | READ_DIR | WRITE_FILE | TRUNCATE | IOCTL_DEV),
            (writable, files),
        ):
            for path in paths:
                _allow(ruleset, path, rights & files)
        system_call("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)
    return abi


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not path.is_dir():
            rights &= OF_A_FILE
        rule = _PathBeneath(rights, parent)
        system_call("landlock_add_rule", ruleset, RULE_PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(parent)
