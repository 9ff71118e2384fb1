"""A tree of a repository's files, in which the repository's own commands run."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from campaigns.devices.discover import Device
from campaigns.devices.harness import below
from campaigns.devices.harness.command import CommandEnd, HostBroken, run
from campaigns.evaluator.sandbox.order import TABLE_BYTES
from campaigns.rules.harness.description import PRINTED, Harness

LARGEST_FILE = 64 << 20


class KeptFile(Protocol):
    """A file as the commit has it. blob: the hash that git gives what it holds."""

    @property
    def blob(self) -> str: ...

    @property
    def executable(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class WorkTree:
    """work: holds `tree` with the files and `home`. files: the commit's, by path.

    read: what a file of a commit holds, by its hash.
    """

    work: Path
    harness: Harness
    files: Mapping[str, KeptFile]
    read: Callable[[str], bytes]

    @property
    def folder(self) -> Path:
        return self.work / "tree"

    def build(self, device: Device, beat: Callable[[], None]) -> CommandEnd:
        return self._run(self.harness.build, device, beat)

    def test(self, device: Device, beat: Callable[[], None]) -> CommandEnd:
        return self._run(self.harness.test, device, beat)

    def benchmark(
        self, device: Device, beat: Callable[[], None]
    ) -> tuple[CommandEnd, bytes | None]:
        """Run it; and the table that it wrote, None where it wrote none. Raises HostBroken."""
        if self.harness.csv != PRINTED:
            _remove(self.folder, self.harness.csv)
        ended = self._run(self.harness.benchmark, device, beat)
        if self.harness.csv == PRINTED:
            return ended, ended.printed
        try:
            return ended, below.read(self.folder, self.harness.csv, TABLE_BYTES)
        except OSError:
            return ended, None

    def restore(self) -> frozenset[str]:
        """Write anew what no round may change and is not as the commit has it; those paths.

        The harness is among it, so a candidate's process that rewrites its own tests rewrites
        nothing that is run next. Raises HostBroken where something else is in the way.
        """
        differ = set()
        for path, kept in self.files.items():
            if self.harness.may_change(path) or path == self.harness.csv:
                continue
            if _digest(self.folder, path) == kept.blob:
                continue
            differ.add(path)
            self.put(path, kept)
        return frozenset(differ)

    def put(self, path: str, kept: KeptFile | None) -> None:
        """Write one file as the commit has it; None removes it. Raises HostBroken."""
        try:
            if kept is None:
                below.remove(self.folder, path)
            else:
                data = self.read(kept.blob)
                below.write(self.folder, path, data, executable=kept.executable)
        except OSError as error:
            raise HostBroken(f"{path}: {error.strerror}") from None

    def copy_from(self, folder: Path) -> None:
        """Begin with a folder's files, as they are, links as links. Raises OSError."""
        shutil.copytree(folder, self.folder, symlinks=True)

    def _run(self, command: str, device: Device, beat: Callable[[], None]) -> CommandEnd:
        (self.work / "home").mkdir(exist_ok=True)
        return run(command, self.work, device, self.harness.limit_s, beat)


def _digest(folder: Path, path: str) -> str:
    """The hash that git gives what the file holds; "" where it is none."""
    try:
        data = below.read(folder, path, LARGEST_FILE)
    except OSError:
        return ""
    if data is None:
        return ""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _remove(folder: Path, path: str) -> None:
    try:
        below.remove(folder, path)
    except OSError as error:
        raise HostBroken(f"{path}: {error.strerror}") from None
