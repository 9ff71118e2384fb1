"""A landscape from any file that is known, by its name and content."""

from __future__ import annotations

from pathlib import Path

from campaigns.landscapes.csv_file import read_landscape
from campaigns.landscapes.kernel_tuner import read_cache
from campaigns.landscapes.landscape import Landscape, LandscapeError
from campaigns.landscapes.t4 import read_t4
from campaigns.landscapes.text import read_text

ACCEPTED = ".csv, or .json of Kernel Tuner (a cache or T4 results), each also with .gz"


def read_any(path: Path) -> Landscape:
    """Raises LandscapeError."""
    match path.name.removesuffix(".gz").rpartition(".")[2]:
        case "csv":
            return read_landscape(path)
        case "json":
            is_t4 = '"results"' in read_text(path) and '"tune_params"' not in read_text(path)
            return read_t4(path) if is_t4 else read_cache(path)
    raise LandscapeError(f"{path}: {ACCEPTED} are accepted")
