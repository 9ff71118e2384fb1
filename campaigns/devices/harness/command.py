"""Run one command of a harness in a tree of its files, in a sandbox of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from django.conf import settings

from campaigns.devices.discover import Device
from campaigns.devices.launch import ROOT, clean_environment
from campaigns.evaluator.sandbox.order import LOG_BYTES, TABLE_BYTES, Order, Told

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


def run(
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
            try:
                status = _wait(process, begun + limit_s + COPY_S, beat)
            finally:
                _end(process)
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


def _wait(
    process: subprocess.Popen[bytes], deadline: float, beat: Callable[[], None]
) -> int | None:
    """Its exit status; None where it takes too long."""
    while (left := deadline - time.monotonic()) > 0:
        try:
            return process.wait(min(BEAT_S, left))
        except subprocess.TimeoutExpired:
            beat()
    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it with all that it started: its child is the first of a namespace, and dies with it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(END_S)


def _tail(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - LOG_BYTES))
    return file.read().decode("utf-8", "replace")
