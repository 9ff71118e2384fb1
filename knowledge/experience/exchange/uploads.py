"""Files that somebody brings: a file, a folder or a .zip; bounded, and read as text."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import UploadedFile

from knowledge.exchange.readers.archive import read_entries
from knowledge.exchange.readers.folder import (
    MAX_TOTAL_BYTES,
    ImportRefused,
    read_folder,
    require_distinct,
    require_inside,
    text_of,
)
from knowledge.experience.readers.recognise import TAKEN

MAX_FILE_BYTES = 10_000_000
WORDS = ".json, .jsonl, .md and .csv"


def read_experience_uploads(files: Sequence[UploadedFile[Any]]) -> tuple[str, dict[str, str]]:
    """What to call it, and path → text. ImportRefused names a file that is not taken."""
    if not files:
        raise ImportRefused(f"no file; accepted: one .zip, or {WORDS} files")
    names = [file.name or "unnamed" for file in files]
    if len(files) == 1 and names[0].lower().endswith(".zip"):
        if (files[0].size or 0) > MAX_TOTAL_BYTES:
            raise ImportRefused(f"{names[0]}: larger than {MAX_TOTAL_BYTES} bytes")
        return names[0], _unpacked(names[0], files[0].read())
    texts: dict[str, str] = {}
    total = 0
    for name, file in zip(names, files, strict=True):
        if name in texts:
            raise ImportRefused(f"{name}: given twice; accepted: one file of each name, or a .zip")
        total += file.size or 0
        _require_small(name, file.size or 0, total)
        texts[name] = text_of(name, file.read())
    require_distinct(texts)
    return (names[0] if len(names) == 1 else f"{len(names)} files"), texts


def read_path(path: Path) -> tuple[str, dict[str, str]]:
    """The same for a file, a folder or a .zip of this machine."""
    if path.is_dir():
        texts = read_folder(path, TAKEN, as_documents=False)
        # The folders above say what a tips.md is about.
        above = _named_from(path, 3)
        return path.name, {f"{above}/{name}": text for name, text in texts.items()}
    if not path.is_file():
        raise ImportRefused(f"{path}: no such file or folder")
    if path.stat().st_size > MAX_TOTAL_BYTES:
        raise ImportRefused(f"{path}: larger than {MAX_TOTAL_BYTES} bytes")
    data = path.read_bytes()
    if path.suffix.lower() == ".zip":
        return path.name, _unpacked(path.name, data)
    _require_small(path.name, len(data), len(data))
    return path.name, {_named_from(path, 4): text_of(path.name, data)}


def _named_from(path: Path, parts: int) -> str:
    """The path with the folders above it, as many as a file's own place may say something."""
    return "/".join(path.resolve().parts[1:][-parts:])


def _unpacked(name: str, data: bytes) -> dict[str, str]:
    texts, _ = read_entries(name.removesuffix(".zip"), io.BytesIO(data), TAKEN)
    if not texts:
        raise ImportRefused(f"{name}: holds none of {WORDS} files; accepted: at least one")
    return texts


def _require_small(name: str, size: int, total: int) -> None:
    require_inside(name)
    if not name.endswith(TAKEN):
        raise ImportRefused(f"{name}: accepted are {WORDS} files, or one .zip alone")
    if size > MAX_FILE_BYTES:
        raise ImportRefused(f"{name}: larger than {MAX_FILE_BYTES} bytes")
    if total > MAX_TOTAL_BYTES:
        raise ImportRefused(f"{name}: the files together are larger than {MAX_TOTAL_BYTES} bytes")
