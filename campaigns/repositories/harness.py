"""A repository's own commands, each in a sandbox of its own, on a tree of the repository's files.

Code of a candidate has run in the tree: no link in it is followed.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from django.conf import settings

from campaigns.devices.discover import Device
from campaigns.devices.launch import ROOT, clean_environment
from campaigns.evaluator.contract.sandbox import LOG_BYTES, TABLE_BYTES, Order, Told
from campaigns.repositories.own_repository import OwnRepository, TreeFile
from campaigns.rules.harness.description import PRINTED, Harness

BEAT_S = 1.0
# How long its files may take to be copied there and back, on top of the command.
COPY_S = 120.0
# By how much a command may be late to end after it was told.
END_S = 10.0


class HostBroken(RuntimeError):
    """This host cannot run the command; nothing is learned about the candidate."""


@dataclass(frozen=True, slots=True)
class CommandEnd:
    """How a command ended. status: as a shell tells it; None where it took too long.

    printed: what it wrote to its output, the first `TABLE_BYTES`; log: the end of all it said.
    over: which limit of disk or memory it went over, as the rest of a sentence; "" for none.
    """

    status: int | None
    printed: bytes
    log: str
    seconds: float
    over: str = ""


def run_command(
    command: str, work: Path, device: Device, limit_s: float, beat: Callable[[], None]
) -> CommandEnd:
    """Run it on a copy of `work`/tree, with that of `work`/home as its home.

    Where it has kept to its limits, both then hold what it left, its failures too.

    beat: called about every second; what it raises ends the command and is passed on. Raises
    HostBroken where the sandbox cannot be closed.
    """
    order = Order(
        folder=str(work),
        command=command,
        kind="cuda" if device.kind == "gpu" else "cpu",
        total_s=limit_s,
        memory_bytes=int(settings.KOPT_RUNNER_MIB) << 20,
        disk_bytes=int(settings.KOPT_HARNESS_MIB) << 20,
        require_all=settings.KOPT_SANDBOX == "ALL",
        extra=tuple(settings.KOPT_HARNESS_PATHS),
    )
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as said:
        told, told_end = os.pipe()
        with os.fdopen(told, "rb") as answers:
            try:
                process = _start(order, device, (out, said), told_end)
            finally:
                os.close(told_end)
            begun = time.monotonic()
            status, deadline = None, begun + limit_s + COPY_S
            try:
                while (left := deadline - time.monotonic()) > 0:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        status = process.wait(min(BEAT_S, left))
                        break
                    beat()
            finally:
                # With all that it started: its child is the first of a namespace, and dies with it.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait(END_S)
            ended = Told.read(answers.read(LOG_BYTES))
        if ended.broken or not ended.locked:
            why = ended.broken or _tail(said).strip()[-300:]
            raise HostBroken(why or "the sandbox ended early")
        out.seek(0)
        printed, log = out.read(TABLE_BYTES + 1), _tail(out) + _tail(said)
        seconds = min(time.monotonic() - begun, limit_s)
        return CommandEnd(None if ended.late else status, printed, log, seconds, ended.over)


def _start(
    order: Order, device: Device, outputs: tuple[IO[bytes], IO[bytes]], told: int
) -> subprocess.Popen[bytes]:
    environment = clean_environment()
    if device.kind == "gpu":
        environment["CUDA_VISIBLE_DEVICES"] = device.uuid
    process = subprocess.Popen(
        [sys.executable, "-m", "campaigns.evaluator.sandbox.program", str(told)],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=outputs[0],
        stderr=outputs[1],
        pass_fds=(told,),
        start_new_session=True,
    )
    if process.stdin is None:
        raise RuntimeError("a program without input")
    with contextlib.suppress(BrokenPipeError), process.stdin:
        process.stdin.write(json.dumps(asdict(order)).encode())
    return process


def _tail(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - LOG_BYTES))
    return file.read().decode("utf-8", "replace")


def read_below(root: Path, path: str, most_bytes: int) -> bytes | None:
    """What the file holds; None where there is none. Raises OSError for what is no plain file."""
    try:
        with _parent(root, path) as (folder, name):
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            handle = os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "is no plain file", path)
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"has more than {most_bytes >> 20} MiB", path)
    return data


def write_below(root: Path, path: str, data: bytes, *, executable: bool = False) -> None:
    """Make the file anew, with its folders. Raises OSError where something else is in the way."""
    with _parent(root, path, make=True) as (folder, name):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(name, flags, 0o755 if executable else 0o644, dir_fd=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(data)


def remove_below(root: Path, path: str) -> None:
    """Remove the file, if there is one. Raises OSError."""
    with contextlib.suppress(FileNotFoundError), _parent(root, path) as (folder, name):
        os.unlink(name, dir_fd=folder)


@contextmanager
def _parent(root: Path, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """The folder of a file, held open, and the file's name in it."""
    *folders, name = path.split("/")
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(root, flags)
    try:
        for part in folders:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=handle)
            inner = os.open(part, flags, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle, name
    finally:
        os.close(handle)


LARGEST_FILE = 64 << 20


@dataclass(frozen=True, slots=True)
class WorkTree:
    """work: holds `tree` with the files and `home`. files: the commit's, by path."""

    work: Path
    harness: Harness
    repository: OwnRepository
    files: Mapping[str, TreeFile]
    device: Device

    @property
    def folder(self) -> Path:
        return self.work / "tree"

    def run(self, command: str, beat: Callable[[], None]) -> CommandEnd:
        """Run a command of the harness on the tree. Raises HostBroken."""
        (self.work / "home").mkdir(exist_ok=True)
        return run_command(command, self.work, self.device, self.harness.limit_s, beat)

    def benchmark(self, beat: Callable[[], None]) -> tuple[CommandEnd, bytes | None]:
        """Run it; and the table that it wrote, None where it wrote none. Raises HostBroken."""
        table = self.harness.csv
        if table != PRINTED:
            self.put(table, None)
        ended = self.run(self.harness.benchmark, beat)
        if table == PRINTED:
            return ended, ended.printed
        try:
            return ended, read_below(self.folder, table, TABLE_BYTES)
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

    def put(self, path: str, kept: TreeFile | None) -> None:
        """Write one file as the commit has it; None removes it. Raises HostBroken."""
        try:
            if kept is None:
                remove_below(self.folder, path)
            else:
                data = self.repository.blob(kept.blob)
                write_below(self.folder, path, data, executable=kept.executable)
        except OSError as error:
            raise HostBroken(f"{path}: {error.strerror}") from None


def _digest(folder: Path, path: str) -> str:
    """The hash that git gives what the file holds; "" where it is none."""
    try:
        data = read_below(folder, path, LARGEST_FILE)
    except OSError:
        data = None
    if data is None:
        return ""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
