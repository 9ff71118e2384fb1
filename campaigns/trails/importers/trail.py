"""The files of a trail, a folder or a .zip, and what they say, by the format of whoever wrote them.

They are texts: never unpacked to a disk, and never run. Whose they are is told by the files that
only one system writes, never by a guess between two.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from campaigns.trails import importers
from campaigns.trails.importers.claims import FORMATS, ClaimedCampaign, System, TrailRefused
from knowledge.exchange.formats import load_all
from knowledge.exchange.readers.files import (
    MAX_TOTAL_BYTES,
    ImportRefused,
    read_entries,
    read_folder,
)

# Texts alone: a pickle, a library or a profiler's database is left out, and said to be.
TAKEN = (
    *(".md", ".json", ".jsonl", ".yaml", ".yml", ".toml", ".txt", ".csv", ".log"),
    *(".py", ".cu", ".cuh", ".cpp", ".cc", ".c", ".h", ".hpp", ".hip", ".mlir", ".diff"),
)
OWN = re.compile(r"memory|plans|profiles|rounds|logs|best|problem|src|tests|bench|v\d+")
LONGEST_NAME = 200
MOST_ROUNDS = 2000


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
            names = [one.relative_to(path).as_posix() for one in path.rglob("*") if one.is_file()]
            shown = (name for name in names if not name.startswith(".") and "/." not in name)
            others = tuple(sorted(name for name in shown if not name.endswith(TAKEN)))
            return _trail(path.resolve().name, texts, others)
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
    if not name.lower().endswith(".zip"):
        accepted = f"accepted: a folder or a .zip of a trail: {_known()}"
        raise TrailRefused(f"{name}: not recognised; {accepted}")
    stem = name.rpartition("/")[2][: -len(".zip")]
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


def claimed_in(files: Mapping[str, str], system: System | None = None) -> ClaimedCampaign:
    """What these files say. system: whose they are, where they could be of several.

    Raises TrailRefused.
    """
    load_all(importers.__name__, importers.__path__)
    name = system or system_of(files)
    found = next(each for each in FORMATS if each.name == name).read(files)
    if not found.rounds:
        raise TrailRefused(f"no round in a trail of {found.system}; accepted: at least one")
    if len(found.rounds) > MOST_ROUNDS:
        raise TrailRefused(f"{len(found.rounds)} rounds; accepted: at most {MOST_ROUNDS}")
    return found


def system_of(files: Mapping[str, str]) -> System:
    """Whose files these are. Raises TrailRefused where none or several could have written them."""
    load_all(importers.__name__, importers.__path__)
    signs = {System(each.name): each.sign for each in FORMATS if each.detect(files)}
    if System.KOPT in signs:
        return System.KOPT
    if len(signs) == 1:
        return next(iter(signs))
    if signs:
        said = ", ".join(f"{system} ({sign})" for system, sign in signs.items())
        raise TrailRefused(f"files of {said}; accepted: of one, or its name as source")
    raise TrailRefused(f"no file that tells who wrote this trail; accepted: {_known()}")


def _known() -> str:
    """The formats of trails and the files that tell them."""
    load_all(importers.__name__, importers.__path__)
    return "; ".join(f"{each.sign} of {each.name}" for each in FORMATS)
