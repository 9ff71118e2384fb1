"""The files of an import: a folder, a .zip or loose files, bounded, and read as text.

Nothing is taken from outside of a folder, and no archive is unpacked to a disk. And back: the one
.zip that the same texts always make.
"""

from __future__ import annotations

import io
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from django.core.files import File

from knowledge.exchange.readers.exported_specs import FILE_NAME, own_names
from knowledge.exchange.readers.exported_specs import ImportRefused as ImportRefused
from knowledge.specs.citation import MAX_PATH

MAX_FILES = 10_000
MAX_BYTES = 2_000_000  # of one file
MAX_KEPT_BYTES = 10_000_000  # of a part of an export's specs.json, which holds whole texts
MAX_TOTAL_BYTES = 64_000_000  # of all files of one import
DOCUMENTS = (".md",)
TAKEN = (".md", ".json")  # documents, and records of values
WORDS = ".md and .json"
MAX_ENTRIES = 4 * MAX_FILES  # of an archive, with folders and files that are left out
JUNK = ("__MACOSX/",)  # what one packer adds beside the files
# What zipfile raises for a damaged or made-up archive: names that are no UTF-8 (ValueError), rare
# packings (RuntimeError), offsets outside of it (OSError, struct.error), …
UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, struct.error),
    *(EOFError, OSError, RuntimeError, ValueError),
)
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest time that the format can hold
PLAIN_FILE = 0o100644 << 16


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
    return own_names(texts) if as_documents else texts


def require_room(path: str, size: int, count: int, total: int, most: int | None = None) -> None:
    """Refuse a file that is too large, or one too many. Sizes in bytes; most: of this file."""
    most = most or most_bytes(path)
    if size > most:
        raise ImportRefused(f"{path}: larger than {most} bytes")
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


@dataclass(frozen=True, slots=True)
class WikiFiles:
    """What somebody brought: path → text, the names left out, and what to call it.

    whole: a folder with all that belongs to it, rather than some loose files.
    """

    name: str
    texts: dict[str, str]
    left_out: tuple[str, ...] = ()
    whole: bool = True


def read_uploads(files: Sequence[File[Any]]) -> WikiFiles:
    """A folder of the wiki as one .zip, with or without a folder around it, or some files of it."""
    found = read_brought(files, TAKEN, WORDS)
    if not found.whole:
        return found
    texts = found.texts
    # Archives of repositories have one folder around everything; `docs` is the wiki's own.
    tops = {path.partition("/")[0] for path in texts}
    if len(tops) == 1 and "docs" not in tops and all("/" in path for path in texts):
        texts = {path.partition("/")[2]: text for path, text in texts.items()}
    return replace(found, texts=own_names(texts))


def read_brought(
    files: Sequence[File[Any]], taken: tuple[str, ...], words: str, most: int | None = None
) -> WikiFiles:
    """One .zip, or some files with one of these endings. ImportRefused names what is not taken.

    words: the endings in a sentence. most: bytes of a loose file, where it may be larger.
    """
    if not files:
        raise ImportRefused(f"no file; accepted: one .zip, or {words} files")
    names = [file.name or "unnamed" for file in files]
    if names[0].lower().endswith(".zip") and len(files) == 1:
        if (files[0].size or 0) > MAX_TOTAL_BYTES:
            raise ImportRefused(f"{names[0]}: larger than {MAX_TOTAL_BYTES} bytes")
        stem = names[0].rpartition("/")[2][:-4]
        texts, left_out = read_entries(stem, io.BytesIO(files[0].read()), taken)
        if not texts:
            raise ImportRefused(f"{stem}.zip: holds no file of {words}; accepted: at least one")
        return WikiFiles(stem, texts, left_out)
    texts = {}
    total = 0
    for name, file in zip(names, files, strict=True):
        if not name.endswith(taken):
            raise ImportRefused(f"{name}: accepted are {words} files, or one .zip alone")
        require_inside(name)
        if name in texts:
            raise ImportRefused(f"{name}: given twice; accepted: one file of each name, or a .zip")
        size = file.size or 0
        total += size
        require_room(name, size, len(texts) + 1, total, most)
        texts[name] = text_of(name, file.read())
    require_distinct(texts)
    return WikiFiles("upload", texts, whole=False)


def read_entries(
    name: str, file: IO[bytes], taken: tuple[str, ...]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Path → text of the files with one of these endings, and the names of all others.

    Raises ImportRefused. name: of the archive, without its ending.
    """
    texts: dict[str, str] = {}
    left_out = []
    total = 0
    try:
        with zipfile.ZipFile(file) as archive:
            for entry in _entries(archive):
                path = entry.filename
                if not path.endswith(taken):
                    left_out.append(path)
                    continue
                # The size that it claims first, which costs nothing; then what really comes out.
                require_room(path, entry.file_size, len(texts) + 1, total + entry.file_size)
                with archive.open(entry) as packed:
                    data = packed.read(most_bytes(path) + 1)
                total += len(data)
                require_room(path, len(data), len(texts) + 1, total)
                texts[path] = text_of(path, data)
    except ImportRefused:
        raise
    except UNREADABLE as error:
        raise ImportRefused(f"{name}.zip: not a readable .zip archive: {error}") from error
    return texts, tuple(sorted(left_out))


def write_archive(files: Iterable[tuple[str, str]]) -> bytes:
    """A .zip of these names and texts, one after the other: the same bytes wherever it is made.

    Raises ImportRefused for a name that leaves the folder.
    """
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, text in files:
            require_inside(path)
            entry = zipfile.ZipInfo(path, LONG_AGO)
            entry.create_system, entry.external_attr = 3, PLAIN_FILE
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text.encode())
    return out.getvalue()


def _entries(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The files in an archive, each with a name that stays inside of it."""
    found = archive.infolist()
    if len(found) > MAX_ENTRIES:
        raise ImportRefused(f"more than {MAX_ENTRIES} entries; accepted: {MAX_FILES} files")
    for entry in found:
        # ZipInfo cuts a name at NUL and turns the local separator round; the original counts.
        name = entry.orig_filename
        require_inside(name)
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise ImportRefused(f"{name}: a link; accepted are plain files")
        if entry.flag_bits & 1:
            raise ImportRefused(f"{name}: encrypted; accepted are files without a password")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            accepted = "accepted are stored and deflated files"
            raise ImportRefused(f"{name}: unsupported compression; {accepted}")
    files = [e for e in found if not e.is_dir() and not e.filename.startswith(JUNK)]
    names = [entry.filename for entry in files]
    for name in names:
        if len(name) > MAX_PATH:
            raise ImportRefused(f"{name[:40]}…: paths of up to {MAX_PATH} characters are accepted")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ImportRefused(f"{twice}: occurs twice in the archive; accepted: once")
    require_distinct(names)
    return files
