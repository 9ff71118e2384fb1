"""Folders that come through the browser: a .zip, or loose files. Never unpacked to a disk.

And back: the one .zip that the same texts always make.
"""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import IO, Any

from django.core.files.uploadedfile import UploadedFile

from knowledge.exchange.readers.folder import (
    MAX_FILES,
    MAX_TOTAL_BYTES,
    TAKEN,
    ImportRefused,
    by_own_names,
    most_bytes,
    require_distinct,
    require_inside,
    require_room,
    text_of,
)
from knowledge.specs.citation import MAX_PATH

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


@dataclass(frozen=True, slots=True)
class WikiFiles:
    """What somebody brought: path → text, the names left out, and what to call it.

    whole: a folder with all that belongs to it, rather than some loose files.
    """

    name: str
    texts: dict[str, str]
    left_out: tuple[str, ...] = ()
    whole: bool = True


def read_uploads(files: Sequence[UploadedFile[Any]]) -> WikiFiles:
    """One .zip, or some .md and .json files. ImportRefused names a file that is not taken."""
    if not files:
        raise ImportRefused("no file; accepted: one .zip, or .md and .json files")
    names = [file.name or "unnamed" for file in files]
    if names[0].lower().endswith(".zip") and len(files) == 1:
        if (files[0].size or 0) > MAX_TOTAL_BYTES:
            raise ImportRefused(f"{names[0]}: larger than {MAX_TOTAL_BYTES} bytes")
        return read_archive(names[0].rpartition("/")[2][:-4], io.BytesIO(files[0].read()))
    texts: dict[str, str] = {}
    total = 0
    for name, file in zip(names, files, strict=True):
        if not name.endswith(TAKEN):
            raise ImportRefused(f"{name}: accepted are .md and .json files, or one .zip alone")
        if name in texts:
            raise ImportRefused(f"{name}: given twice; accepted: one file of each name, or a .zip")
        size = file.size or 0
        total += size
        require_room(name, size, len(texts) + 1, total)
        texts[name] = text_of(name, file.read())
    require_distinct(texts)
    return WikiFiles("upload", texts, whole=False)


def read_archive(name: str, file: IO[bytes]) -> WikiFiles:
    """The documents and records in a .zip; one folder around all of them is taken off."""
    texts, left_out = read_entries(name, file, TAKEN)
    if not texts:
        raise ImportRefused(f"{name}.zip: holds no .md and no .json file; accepted: at least one")
    return WikiFiles(name, by_own_names(_without_common_folder(texts)), left_out)


def read_entries(
    name: str, file: IO[bytes], taken: tuple[str, ...]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Path → text of the files with one of these endings, and the names of all others.

    Raises ImportRefused. name: of the archive, without its ending.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            entries = _entries(archive)
            texts = _texts(archive, [e for e in entries if e.filename.endswith(taken)])
    except ImportRefused:
        raise
    except UNREADABLE as error:
        raise ImportRefused(f"{name}.zip: not a readable .zip archive: {error}") from error
    return texts, tuple(sorted(e.filename for e in entries if not e.filename.endswith(taken)))


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
        _require_inside(entry)
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


def _require_inside(entry: zipfile.ZipInfo) -> None:
    # ZipInfo cuts a name at NUL and turns the local separator round; the original is what counts.
    name = entry.orig_filename
    require_inside(name)
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise ImportRefused(f"{name}: a link; accepted are plain files")
    if entry.flag_bits & 1:
        raise ImportRefused(f"{name}: encrypted; accepted are files without a password")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ImportRefused(
            f"{name}: unsupported compression; accepted are stored and deflated files"
        )


def _texts(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo]) -> dict[str, str]:
    texts: dict[str, str] = {}
    total = 0
    for entry in entries:
        # The size that it claims first, which costs nothing; then what really comes out.
        require_room(entry.filename, entry.file_size, len(texts) + 1, total + entry.file_size)
        with archive.open(entry) as packed:
            data = packed.read(most_bytes(entry.filename) + 1)
        total += len(data)
        require_room(entry.filename, len(data), len(texts) + 1, total)
        texts[entry.filename] = text_of(entry.filename, data)
    return texts


def _without_common_folder(texts: dict[str, str]) -> dict[str, str]:
    """Archives of repositories have one folder around everything; `docs` is the wiki's own."""
    tops = {path.partition("/")[0] for path in texts}
    if len(tops) > 1 or "docs" in tops or not all("/" in path for path in texts):
        return texts
    return {path.partition("/")[2]: text for path, text in texts.items()}
