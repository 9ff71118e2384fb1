"""Folders that last as long as one piece of work, and the removal of those of ended processes.

The name of a folder says which process owns it: `<purpose>-<host key>-<process>-<random>`.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from campaigns.workers.claim_holder import host_key, process_is_gone

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
    parent = _parent()
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=owned_prefix(purpose), dir=parent) as folder:
        yield Path(folder)


def sweep() -> list[Path]:
    """Remove the folders that no living process owns; return them."""
    parent = _parent()
    left = [path for path in parent.iterdir() if _is_left(path)] if parent.is_dir() else []
    service = Path(tempfile.gettempdir()).glob("kopt-*")
    left += [path for path in service if (owner := OWNED.match(path.name)) and _has_ended(owner)]
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    return left


def _parent() -> Path:
    return Path(settings.DATA_DIR) / "scratch"


def _is_left(path: Path) -> bool:
    owner = OWNED.match(path.name)
    if owner and owner["host"] == host_key():
        return process_is_gone(int(owner["process"]))
    try:
        return time.time() - path.stat().st_mtime > UNKNOWN_KEPT_S
    except FileNotFoundError:
        return False  # it has just gone by itself


def _has_ended(owner: re.Match[str]) -> bool:
    return owner["host"] == host_key() and process_is_gone(int(owner["process"]))
