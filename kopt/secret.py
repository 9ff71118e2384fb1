"""The secret key: from the environment, or made once and kept readable by the owner alone."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def secret_key(data_dir: Path) -> str:
    """Return KOPT_SECRET_KEY, else the key stored in `data_dir`, made on the first start."""
    if found := os.environ.get("KOPT_SECRET_KEY"):
        return found
    path = data_dir / "secret.key"
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _read(path)
    with os.fdopen(handle, "w") as file:
        file.write(secrets.token_urlsafe(50))
    return _read(path)


def _read(path: Path) -> str:
    # A process that lost the race above may read before the winner has written; an empty key is
    # then refused by Django with its own clear message instead of being used.
    return path.read_text().strip()
