"""Reads a folder of Markdown files, and takes nothing from outside of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from knowledge.exchange.exported_specs import FILE_NAME
from knowledge.exchange.readers.specs_json import SpecsJsonError, own_names

MAX_FILES = 10_000
MAX_BYTES = 2_000_000  # of one file
MAX_KEPT_BYTES = 10_000_000  # of a part of an export's specs.json, which holds whole texts
MAX_TOTAL_BYTES = 64_000_000  # of all files of one import
DOCUMENTS = (".md",)
TAKEN = (".md", ".json")  # documents, and records of values


class ImportRefused(ValueError):
    """A file or document that is not taken; the message names it. Nothing was stored."""


def read_folder(
    folder: Path, suffixes: tuple[str, ...] = DOCUMENTS, *, as_documents: bool = True
) -> dict[str, str]:
    """Path → text of every file in `folder` with one of these endings.

    Hidden files and folders are passed over. as_documents: by the paths that an export says, rather
    than by the files' own. ImportRefused names a file that is not taken.
    """
    root = folder.resolve()
    if not root.is_dir():
        raise ImportRefused(f"{folder}: not a folder")
    texts: dict[str, str] = {}
    total = 0
    for path in sorted(_walk(root, folder, suffixes)):
        size = (root / path).stat().st_size
        total += size
        require_room(path, size, len(texts) + 1, total)
        texts[path] = text_of(path, (root / path).read_bytes())
    require_distinct(texts)
    return by_own_names(texts) if as_documents else texts


def by_own_names(texts: dict[str, str]) -> dict[str, str]:
    """The files by the paths of their documents, where an export had to call some otherwise."""
    try:
        return own_names(texts)
    except SpecsJsonError as error:
        raise ImportRefused(str(error)) from error


def require_room(path: str, size: int, count: int, total: int) -> None:
    """Refuse a file that is too large, or one too many. Sizes in bytes."""
    if size > most_bytes(path):
        raise ImportRefused(f"{path}: larger than {most_bytes(path)} bytes")
    if count > MAX_FILES:
        raise ImportRefused(f"{path}: more than {MAX_FILES} files; accepted: that many at a time")
    if total > MAX_TOTAL_BYTES:
        raise ImportRefused(
            f"{path}: the files together are larger than {MAX_TOTAL_BYTES} bytes; accepted: that "
            "many at a time"
        )


def most_bytes(path: str) -> int:
    """How large a file may be."""
    return MAX_KEPT_BYTES if FILE_NAME.fullmatch(path.rpartition("/")[2]) else MAX_BYTES


def text_of(path: str, data: bytes) -> str:
    """The text of a file; ImportRefused where it is none, or cannot be stored."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ImportRefused(f"{path}: not UTF-8 at byte {error.start}") from error
    if "\0" in text:
        # PostgreSQL keeps no text with it.
        raise ImportRefused(f"{path}: NUL at byte {data.index(0)}; accepted: UTF-8 text without it")
    return text


def require_inside(name: str) -> None:
    """Refuse the name of a file that leaves the folder, or that some system reads otherwise."""
    accepted = "accepted are relative paths inside the folder, with / between the parts"
    parts = name.split("/")
    if "\\" in name or "\0" in name or parts[0] == "" or name[1:2] == ":":
        raise ImportRefused(f"{name!r}: {accepted}")
    if ".." in parts:
        raise ImportRefused(f"{name}: points outside the folder; {accepted}")


def require_distinct(paths: Collection[str]) -> None:
    """Refuse two paths that some file systems take for one."""
    seen: dict[str, str] = {}
    for path in sorted(paths):
        other = seen.setdefault(path.casefold(), path)
        if other != path:
            raise ImportRefused(f"{other} and {path} differ only in case; accepted: one of them")


def _walk(root: Path, folder: Path, suffixes: tuple[str, ...]) -> Iterator[str]:
    """Paths of the plain files to read, relative to the root."""
    for place, folders, names in os.walk(root):
        here = Path(place)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        wanted = [name for name in names if name.endswith(suffixes) and not name.startswith(".")]
        links = [name for name in folders if (here / name).is_symlink()]
        for name in sorted([*links, *wanted]):
            file = here / name
            path = file.relative_to(root).as_posix()
            if not file.resolve().is_relative_to(root):
                raise ImportRefused(f"{path}: points outside {folder}")
            if name in links or not file.exists() or not stat.S_ISREG(file.stat().st_mode):
                raise ImportRefused(f"{path}: accepted are plain files in plain folders")
            yield path
