"""Where a runner builds: its scratch folder, and compilers that run as locked down as itself."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from campaigns.evaluator.sandbox import folder
from campaigns.evaluator.sandbox.lock import Lock
from campaigns.evaluator.sandbox.processes import describe_status, fork, wait_status

LOG_BYTES = 256 * 1024
# Compilers with more to say than this are fed with what makes them say it.
OUTPUT_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended. status: as waiting for it says, 0 when all went well.

    stopped: whether the workplace ended it, since it took too long or said too much.
    """

    status: int
    log: str
    stopped: bool = False

    @property
    def words(self) -> str:
        return describe_status(self.status)

    @property
    def killed(self) -> bool:
        """Whether it was killed, and not by its workplace."""
        return self.status == signal.SIGKILL and not self.stopped


class Workplace:
    """One runner's scratch folder. build_log: a memory file that the supervisor reads."""

    def __init__(self, place: Path, lock: Lock, build_log: int, build_s: float) -> None:
        self.folder = place
        self._lock = lock
        self._build_log = build_log
        self._build_s = build_s

    @property
    def no_watching(self) -> str:
        """Why `run_watched` would raise NotLocked; "" where it would not."""
        return self._lock.no_watching

    def keep_log(self, text: str) -> None:
        """Make `text`, or the end of it, the build log."""
        data = text.encode("utf-8", "replace")[-LOG_BYTES:]
        os.ftruncate(self._build_log, 0)
        os.pwrite(self._build_log, data, 0)

    def run(self, command: Sequence[str]) -> Ended:
        """Run a compiler in the folder, at most `build_s` seconds and with bounded output.

        Raises FileNotFoundError when there is no such program.
        """
        return self._run(command, self._lock.compiler(self._build_s), self._build_s)

    def run_watched(
        self,
        command: Sequence[str],
        options: Mapping[str, str],
        seconds: float,
        *,
        opens_events: bool = False,
    ) -> Ended:
        """Run a program that holds the candidate and a sanitizer, at most `seconds`.

        options: added to its environment. opens_events: it is a profiler of the CPU. What it leaves
        running is ended with it. Raises FileNotFoundError when there is no such program, NotLocked
        as `no_watching` says.
        """
        lock = self._lock.watched(seconds, opens_events=opens_events)
        return self._run(command, lock, seconds, {**os.environ, **options})

    def _run(
        self,
        command: Sequence[str],
        lock: Callable[[], None],
        seconds: float,
        environment: Mapping[str, str] | None = None,
    ) -> Ended:
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            # Not in a thread, and nothing but libc calls that were looked up before.
            preexec_fn=lock,
        )
        if process.stdout is None:
            raise RuntimeError("a program without output")
        deadline = time.monotonic() + seconds
        with process:
            said, stopped = self._listen(process.stdout.fileno(), process.pid, seconds)
            # One that has closed its output may go on, and leave others behind.
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, deadline - time.monotonic()))
            stopped = stopped or process.poll() is None
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        code = process.returncode
        status = -code if code < 0 else code << 8
        return Ended(status, said.decode("utf-8", "replace"), stopped)

    def _listen(self, pipe: int, group: int, seconds: float) -> tuple[bytes, bool]:
        """What is said until the end, and whether the program was ended for how long or much."""
        said, much, deadline = bytearray(), 0, time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            ready, _, _ = select.select([pipe], [], [], max(0.0, left))
            data = os.read(pipe, 65536) if ready else b""
            if ready and not data:
                return bytes(said), False
            much += len(data)
            said += data[: max(0, LOG_BYTES - len(said))]
            if not ready or much > OUTPUT_BYTES:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(group, signal.SIGKILL)
                why = "took too long" if not ready else "said too much"
                return bytes(said) + f"\nended: it {why}\n".encode(), True

    def within(self, name: str) -> Workplace:
        """A new folder in this one, to work in alike. Raises OSError."""
        inner = Workplace(self.folder / name, self._lock, self._build_log, self._build_s)
        inner.folder.mkdir()
        return inner

    def apart(self, body: Callable[[], int], files: tuple[int, ...] = ()) -> Ended:
        """Run code of the candidate's in a process of its own that may start compilers.

        files: that it may write to.

        The folder is empty afterwards: nothing that it has left there is for anybody to find.
        """

        def sealed() -> int:
            self._lock.seal(programs=True)
            return body()

        log, log_end = os.pipe()
        child = fork(sealed, log_end, (*self._lock.files, *files))
        os.close(log_end)
        deadline = time.monotonic() + self._build_s
        said, stopped = self._listen(log, child, self._build_s)
        os.close(log)
        # One that has closed its output may go on, and leave others behind.
        status = wait_status(child, max(0.0, deadline - time.monotonic()))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        if status is None:
            stopped = True
            _, status = os.waitpid(child, 0)
        folder.clear(self.folder)
        return Ended(status, said.decode("utf-8", "replace"), stopped)
