"""Which process holds a claim, and whether that process is still alive."""

from __future__ import annotations

import hashlib
import os
import uuid
from functools import cache
from pathlib import Path

NAME_LENGTH = 60


class ClaimLost(Exception):
    """Another worker has taken over what this one had claimed; what was measured is dropped."""


def boot_id() -> str:
    """Name this boot of this machine; all of its containers share it, and no other boot has it."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    return boot.read_text() if boot.exists() else os.uname().nodename


@cache
def host_key() -> str:
    """Name this boot of this process namespace: only inside it does a process id mean anything."""
    namespace = Path("/proc/self/ns/pid")
    found = boot_id()
    if namespace.is_symlink():
        found += str(namespace.readlink())
    return hashlib.sha256(found.encode()).hexdigest()[:12]


def new_holder(worker: str) -> str:
    """A token for one claim by this process; it differs for every claim."""
    return f"{worker[:NAME_LENGTH]} {host_key()} {os.getpid()} {uuid.uuid4().hex[:12]}"


def worker_of(holder: str) -> str:
    """The worker's name in a token."""
    return holder.rsplit(" ", 3)[0]


def is_gone(holder: str) -> bool:
    """Say whether the holder is a process of this host that has ended; False when unknown."""
    parts = holder.rsplit(" ", 3)
    if len(parts) != 4 or parts[1] != host_key() or not parts[2].isdigit():
        return False
    return process_is_gone(int(parts[2]))


def is_here(holder: str) -> bool:
    """Say whether this process made the claim."""
    return holder.rsplit(" ", 3)[1:3] == [host_key(), str(os.getpid())]


def process_is_gone(process: int) -> bool:
    """Say whether no process of this id is alive here."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
