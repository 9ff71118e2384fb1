"""The secret key: from the environment, or made once and kept readable by the owner alone."""

from __future__ import annotations

import fcntl
import os
import secrets
import tempfile
from pathlib import Path


def secret_key(data_dir: Path) -> str:
    """Return KOPT_SECRET_KEY, else the key stored in `data_dir`, made where there is none."""
    # Django's secret key; one for all servers of a team. Empty: made once, in the data folder.
    if found := os.environ.get("KOPT_SECRET_KEY"):
        return found
    path = data_dir / "secret.key"
    if found := _read(path):
        return found
    # One process at a time looks for a key and makes it; the lock goes with the process.
    folder = os.open(data_dir, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        return _read(path) or _make(path)
    finally:
        os.close(folder)


def _read(path: Path) -> str:
    """The stored key; empty where there is no file, or one that an early kopt left empty."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return ""


def _make(path: Path) -> str:
    """Store a new key under its name in one step, so that no reader ever sees half of it."""
    key = secrets.token_urlsafe(50)
    # mkstemp's file is readable by its owner alone.
    handle, part = tempfile.mkstemp(prefix=path.name, dir=path.parent)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(key)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        Path(part).unlink(missing_ok=True)
    return key
