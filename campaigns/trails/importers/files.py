"""The files of a trail: a folder or a .zip, as texts. Never unpacked to a disk, and never run."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from campaigns.trails.importers.claims import TrailRefused
from knowledge.exchange.readers.archive import read_entries
from knowledge.exchange.readers.folder import MAX_TOTAL_BYTES, ImportRefused, read_folder

# Texts alone: a pickle, a library or a profiler's database is left out, and said to be.
TAKEN = (
    *(".md", ".json", ".jsonl", ".yaml", ".yml", ".toml", ".txt", ".csv", ".log"),
    *(".py", ".cu", ".cuh", ".cpp", ".cc", ".c", ".h", ".hpp", ".hip", ".mlir", ".diff"),
)
OWN = re.compile(r"memory|plans|profiles|rounds|logs|best|problem|src|tests|bench|v\d+")
LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class TrailFiles:
    """path → text, what it is called, and what was left out."""

    name: str
    files: Mapping[str, str]
    left_out: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The same for the same files, wherever they lay and however they were packed."""
        sums = hashlib.sha256()
        for path, text in sorted(self.files.items()):
            sums.update(f"{path}\0{hashlib.sha256(text.encode()).hexdigest()}\n".encode())
        return sums.hexdigest()


def read_path(path: Path) -> TrailFiles:
    """A folder or a .zip. Raises TrailRefused; FileNotFoundError where there is nothing."""
    try:
        if path.is_dir():
            texts = read_folder(path, TAKEN, as_documents=False)
            return _trail(path.resolve().name, texts, _others(path))
        if path.stat().st_size > MAX_TOTAL_BYTES:
            raise TrailRefused(f"{path}: larger than {MAX_TOTAL_BYTES} bytes; accepted: less")
        return read_zip(path.name, path.read_bytes())
    except ImportRefused as error:
        raise TrailRefused(str(error)) from None
    except FileNotFoundError:
        raise
    except OSError as error:
        raise TrailRefused(f"{path}: {error.strerror}; accepted: a folder or a .zip") from None


def read_zip(name: str, data: bytes) -> TrailFiles:
    """The texts in an archive; one folder around all of them is taken off, and names the trail.

    Raises TrailRefused.
    """
    stem = name.rpartition("/")[2].removesuffix(".zip")
    if len(data) > MAX_TOTAL_BYTES:
        raise TrailRefused(f"{name}: larger than {MAX_TOTAL_BYTES} bytes; accepted: less")
    try:
        texts, left_out = read_entries(stem, io.BytesIO(data), TAKEN)
    except ImportRefused as error:
        raise TrailRefused(str(error)) from None
    tops = {path.partition("/")[0] for path in texts}
    top = tops.pop() if len(tops) == 1 else ""
    if top and all("/" in path for path in texts) and not OWN.fullmatch(top):
        stem = top
        texts = {path.partition("/")[2]: text for path, text in texts.items()}
    return _trail(stem, texts, left_out)


def _trail(name: str, texts: Mapping[str, str], left_out: tuple[str, ...]) -> TrailFiles:
    if not texts:
        raise TrailRefused(f"{name}: no file that can be read; accepted: {', '.join(TAKEN)}")
    return TrailFiles(name[:LONGEST_NAME] or "trail", texts, left_out)


def _others(folder: Path) -> tuple[str, ...]:
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    shown = (name for name in names if not name.startswith(".") and "/." not in name)
    return tuple(sorted(name for name in shown if not name.endswith(TAKEN)))
