"""A campaign's repository: bare, below DATA_DIR, one branch, written anew from entries each time.

It has no work tree, so nothing of a user's is ever checked out, reset or cleaned (R9).

The same entries give the same hashes, so writing a chain again changes nothing, and a repository
that is missing or damaged is simply made again. It holds nothing that is not in the database.
"""

from __future__ import annotations

import fcntl
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from campaigns.lineage.git import GitRefused, LineageError, git, quoted

# A neutral address: records name the people of a round, the commit does not.
AUTHOR = "kopt <kopt@invalid>"
PATIENCE_S, POLL_S = 10.0, 0.05


@dataclass(frozen=True, slots=True)
class PlannedCommit:
    """One commit to be. files: path → text, all there is in its tree. at_s: seconds since 1970."""

    message: str
    files: Mapping[str, str]
    at_s: int


def repository_of(key: int) -> Path:
    """Where the repository of the campaign with this key lies, whether it is there or not."""
    return _folder() / f"campaign-{key}.git"


def write(key: int, branch: str, entries: Sequence[PlannedCommit]) -> list[str]:
    """Bring the branch to these commits, the oldest first; return their hashes.

    Raises LineageError.
    """
    repository = repository_of(key)
    try:
        with _locked(key):
            stream = _stream(branch, entries)
            try:
                return _import(repository, branch, stream)
            except GitRefused:
                return _remade(repository, branch, stream)
    except OSError as error:
        raise LineageError(f"{error.filename or repository}: {error.strerror}") from None


def _remade(repository: Path, branch: str, stream: bytes) -> list[str]:
    """In the place of one that git refuses; where that fails too (full disk), the old one stays."""
    fresh = repository.with_suffix(".new")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        hashes = _import(fresh, branch, stream)
        if repository.exists():
            shutil.rmtree(repository)
        fresh.rename(repository)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return hashes


def _import(repository: Path, branch: str, stream: bytes) -> list[str]:
    # Again each time: it mends what is missing, and leaves the rest.
    git(repository, "init", "--quiet", "--bare", "--template=")
    git(repository, "symbolic-ref", "HEAD", f"refs/heads/{branch}")
    # Forced, because the records define the branch, whatever was done to it here.
    done = git(repository, "fast-import", "--quiet", "--done", "--force", data=stream)
    return done.decode("ascii").split()


def _stream(branch: str, entries: Sequence[PlannedCommit]) -> bytes:
    """The commits in the format of git fast-import: each text with its length, unchanged."""
    parts: list[bytes] = []
    for mark, entry in enumerate(entries, 1):
        parts.append(f"commit refs/heads/{branch}\nmark :{mark}\n".encode())
        parts += [
            f"{who} {AUTHOR} {entry.at_s} +0000\n".encode() for who in ("author", "committer")
        ]
        parts.append(_data(entry.message))
        if mark > 1:
            parts.append(f"from :{mark - 1}\n".encode())
        parts.append(b"deleteall\n")
        for path, text in sorted(entry.files.items()):
            parts += [f"M 100644 inline {quoted(path)}\n".encode(), _data(text)]
        parts.append(f"\nget-mark :{mark}\n".encode())
    return b"".join([*parts, b"done\n"])


def _data(text: str) -> bytes:
    data = text.encode()
    return b"data %d\n%b\n" % (len(data), data)


@contextmanager
def _locked(key: int) -> Iterator[None]:
    """One process of this host writes at a time; the lock goes with the process. Raises OSError."""
    _folder().mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + PATIENCE_S
    with (_folder() / f"campaign-{key}.lock").open("a") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise LineageError("another process is writing this repository") from None
                time.sleep(POLL_S)
        yield


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "lineage"
