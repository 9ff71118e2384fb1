"""Which process of which host holds a claim or owns a folder, and whether it is still alive."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from django.conf import settings

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
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False


OWNED = re.compile(r"[a-z]+-(?P<host>[0-9a-f]{12})-(?P<process>\d+)-")
# Of a folder of another host, or of a container that is no more, only the age can be known; no
# piece of work lasts a day.
UNKNOWN_KEPT_S = 24 * 3600.0


def owned_prefix(purpose: str) -> str:
    """The start of a folder's name that says that this process owns it."""
    return f"{purpose}-{host_key()}-{os.getpid()}-"


@contextmanager
def tempdir(purpose: str) -> Iterator[Path]:
    """A new folder under DATA_DIR/scratch for the length of a `with`. Raises OSError."""
    parent = _scratch()
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=owned_prefix(purpose), dir=parent) as folder:
        yield Path(folder)


def remove_left_tempdirs() -> list[Path]:
    """Remove the folders that no living process owns; return them."""
    parent = _scratch()
    left = [path for path in parent.iterdir() if _is_left_behind(path)] if parent.is_dir() else []
    # Of the folders of services only those of this host can be told.
    for path in Path(tempfile.gettempdir()).glob("kopt-*"):
        owner = OWNED.match(path.name)
        if owner and owner["host"] == host_key() and process_is_gone(int(owner["process"])):
            left.append(path)
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    return left


def _scratch() -> Path:
    return Path(settings.DATA_DIR) / "scratch"


def _is_left_behind(path: Path) -> bool:
    owner = OWNED.match(path.name)
    if owner and owner["host"] == host_key():
        return process_is_gone(int(owner["process"]))
    try:
        return time.time() - path.stat().st_mtime > UNKNOWN_KEPT_S
    except FileNotFoundError:
        return False  # it has just gone by itself
