"""The processes that `up` starts and keeps alive; none of them outlives it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from campaigns.evaluator.contract.sandbox import die_with_parent, kill_group

STOP_LIMIT_S = 6.0
# A child that ends so often within so short a time is not worth starting again.
MOST_STARTS, WITHIN_S = 5, 30.0


class ChildFails(RuntimeError):
    """A child that keeps ending right after its start; the message names it."""


@dataclass(slots=True)
class Child:
    """One process to keep alive: its name for people and its command."""

    name: str
    command: tuple[str, ...]
    folder: Path
    process: subprocess.Popen[bytes] | None = None
    starts: list[float] = field(default_factory=list)

    def start(self) -> None:
        """Start it in a process group of its own, so that Ctrl-C reaches `up` alone."""
        now = time.monotonic()
        self.starts = [at for at in self.starts if now - at < WITHIN_S] + [now]
        if len(self.starts) > MOST_STARTS:
            raise ChildFails(f"{self.name} ended {MOST_STARTS} times within {WITHIN_S:.0f} s")
        self.process = subprocess.Popen(
            self.command,
            cwd=self.folder,
            start_new_session=True,
            # `up` has one thread, so a kill of `up` itself reaches the child through the kernel.
            preexec_fn=partial(die_with_parent, os.getpid()),
        )

    def revive(self, tell: Callable[[str], None]) -> None:
        """Start it again if it has ended."""
        status = self.process.poll() if self.process else None
        if status is not None:
            tell(f"{self.name} ended with status {status}; starting it again")
            self.start()

    def end(self, deadline: float) -> None:
        """Wait until the deadline, then kill it with everything in its group."""
        if self.process is None:
            return
        try:
            self.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            kill_group(self.process.pid)
            self.process.wait()


def web(host: str, port: int, folder: Path) -> Child:
    """The web server."""
    # Which header says who asks is a setting of ours (KOPT_CLIENT_HEADER); none is believed else.
    trust = ("--no-proxy-headers",)
    options = ("--host", host, "--port", str(port), "--lifespan", "off", "--no-access-log")
    limits = ("--timeout-graceful-shutdown", "3", "--log-level", "warning")
    # whitenoise streams files by a plain iterator, of which Django warns at every one under ASGI.
    quiet = ("-W", "ignore:StreamingHttpResponse must consume:Warning")
    server = (sys.executable, *quiet, "-m", "uvicorn", "kopt.asgi:application")
    return Child("web server", (*server, *trust, *options, *limits), folder)


def worker(name: str, queue: str, threads: int, folder: Path) -> Child:
    """A Celery worker that serves one queue."""
    options = ("-Q", queue, "-n", f"{name}@%h", "-P", "threads", "-c", str(threads))
    quiet = ("--loglevel", "WARNING", "--without-gossip", "--without-mingle")
    # Celery's banner and its warning about root say nothing that a user of `up` can act on.
    celery = (sys.executable, "-W", "ignore", "-m", "celery", "--quiet", "-A", "kopt", "worker")
    command = (*celery, *options, *quiet)
    return Child(f"{name} worker", command, folder)


def end_all(children: list[Child]) -> None:
    """End all of them, politely first."""
    for child in children:
        if child.process is not None and child.process.poll() is None:
            os.kill(child.process.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_LIMIT_S
    for child in children:
        child.end(deadline)
