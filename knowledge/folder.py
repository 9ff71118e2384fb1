"""Reads a folder of Markdown files, and takes nothing from outside of it."""

from __future__ import annotations

from pathlib import Path

MAX_BYTES = 2_000_000


class ImportRefused(ValueError):
    """A file or document that is not taken; the message names it. Nothing was stored."""


def read_folder(folder: Path) -> dict[str, str]:
    """Path → text of every Markdown file in `folder`; ImportRefused names one that is not taken."""
    root = folder.resolve()
    if not root.is_dir():
        raise ImportRefused(f"{folder}: not a folder")
    texts = {}
    for file in sorted(root.rglob("*.md")):
        path = file.relative_to(root).as_posix()
        if not file.resolve().is_relative_to(root):
            raise ImportRefused(f"{path}: points outside {folder}")
        if file.stat().st_size > MAX_BYTES:
            raise ImportRefused(f"{path}: larger than {MAX_BYTES} bytes")
        try:
            texts[path] = file.read_bytes().decode()
        except UnicodeDecodeError as error:
            raise ImportRefused(f"{path}: not UTF-8 at byte {error.start}") from error
    return texts
