"""Reading a file that may be packed."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from campaigns.landscapes.landscape import ENCODING, LandscapeError


def read_text(path: Path) -> str:
    """A text file, unpacked if its name ends in .gz. Raises LandscapeError."""
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode(ENCODING)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise LandscapeError(f"{path}: {error}") from error
