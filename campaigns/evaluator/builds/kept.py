"""A folder that appears with all of its files, or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path


def keep_whole(place: Path, files: Mapping[str, bytes]) -> None:
    """Write the files by name; what another process has made meanwhile stays. Raises OSError."""
    place.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".new-", dir=place.parent))
    try:
        for name, data in files.items():
            (made / name).write_bytes(data)
        made.rename(place)
    except OSError:
        shutil.rmtree(made, ignore_errors=True)
        if not place.is_dir():
            raise
