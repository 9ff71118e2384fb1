"""Start the evaluator service and ask it for evaluations; the only place that does.

The service is a subprocess that ends when the pipe on its standard input closes, so a worker that
is killed takes its service, judges and runners with it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from django.conf import settings

from campaigns.devices.nvml import visible_cards
from campaigns.devices.processes import host_key, owned_prefix
from campaigns.evaluator.contract import ContractError, Job, Outcome, Phase, Report
from campaigns.evaluator.contract.files import dump, load_report
from campaigns.evaluator.contract.job import KERNELS
from campaigns.evaluator.contract.sandbox import CardNode, Policy, with_descendants
from campaigns.problems.shipped import is_shipped

ROOT = Path(__file__).resolve().parents[2]
START_LIMIT_S = 120.0
CANCEL_LIMIT_S = 15.0
SOCKET = "service"
REST_LIMIT_S, REST_POLL_S = 10.0, 0.02
# What the evaluator may inherit; secrets of the web side (database, keys) stay behind.
PASSED_ON = (
    "PATH",
    "LD_LIBRARY_PATH",
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES",
    "HOME",
    "LANG",
    "PYTHONPATH",
    "TMPDIR",
    "VIRTUAL_ENV",
)

Beat = Callable[[str], None]


class EvaluatorService:
    """A zygote in a subprocess, started on first use and again after it died.

    Use as a context manager, or call `close`. One evaluation at a time. lends: whether others of
    this user may ask the service as well, while they hold a device; borrows: whether to ask one
    that is lent, which has its libraries imported and a crew in reserve.
    """

    def __init__(
        self, policy: Policy | None = None, *, lends: bool = False, borrows: bool = False
    ) -> None:
        self._policy = policy or sandbox_policy()
        self._lends, self._borrows = lends, borrows
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: Path | None = None

    @property
    def process_id(self) -> int | None:
        """Process id of the running service; None before the first evaluation and after its end."""
        return self._process.pid if self._process is not None else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start the service now, so that the first job need not wait until torch is imported.

        What goes wrong is left to that job, which tries again and says it.
        """
        with contextlib.suppress(OSError):
            self._ready()

    def close(self) -> None:
        """End the service and everything it started, and remove its folder."""
        if self._process is not None:
            if self._process.stdin is not None:
                self._process.stdin.close()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()
        self._process = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            if self._lends and _lent(self._policy) == self._folder / SOCKET:
                _note_of(self._policy).unlink(missing_ok=True)
        self._folder = None

    def evaluate(self, job: Job, beat: Beat | None = None) -> Report:
        """Run `job` and return its report; whatever the candidate does, this does not raise.

        beat: called about every second with the phase. What it raises cancels the evaluation and
        is passed on. `job.scratch` is the folder to work in; it is made here and removed after.
        """
        try:
            return self._evaluate(job, beat)
        except OSError as error:
            where = error.filename or job.scratch
            words = "disk full" if error.errno == 28 else error.strerror or type(error).__name__
            return Report(job.job_id, Outcome.BROKEN_HOST, Phase.START, f"{words}: {where}")
        except ContractError as error:
            reason = f"the evaluator's report cannot be read: {error}"
            return Report(job.job_id, Outcome.BROKEN_HOST, Phase.START, reason)
        finally:
            shutil.rmtree(job.scratch, ignore_errors=True)

    def rest(self) -> None:
        """Have the service use no device until the next job, and wait until nothing of it does.

        The use of the device is then that of other programs; in a container
        the driver's process ids would not separate them from kopt's.
        """
        process = self._process
        if process is None or process.poll() is not None or process.stdin is None:
            return
        with contextlib.suppress(OSError):
            process.stdin.write(b"rest\n")
            process.stdin.flush()
        deadline = time.monotonic() + REST_LIMIT_S
        while len(with_descendants(process.pid)) > 1 and time.monotonic() < deadline:
            time.sleep(REST_POLL_S)

    def begin(self, job: Job) -> socket.socket:
        """Hand a job out; what is told of it comes over the socket. Raises OSError.

        `job.scratch` is made here, and left to the caller to remove.
        """
        scratch = job.scratch.resolve()
        scratch.mkdir(parents=True)
        job = replace(
            job,
            scratch=scratch,
            problem=job.problem.resolve(),
            shipped=job.shipped or is_shipped(job.problem.resolve()),
        )
        job_file = scratch / "job.json"
        job_file.write_text(dump(job))
        client = self._connected()
        try:
            client.sendall(f"{job.device} {len(job.rivals)} {job_file}\n".encode())
        except OSError:
            client.close()
            raise
        return client

    def _connected(self) -> socket.socket:
        if self._borrows and (lent := _lent(self._policy)):
            with contextlib.suppress(OSError):
                return _connect(lent)
        return _connect(self._ready())

    def _evaluate(self, job: Job, beat: Beat | None) -> Report:
        try:
            begun = self.begin(job)
        except ConnectionError:
            return self._died(job)  # with the job unread
        report = None
        with begun as client:
            try:
                with contextlib.suppress(ConnectionError):
                    report = _follow(client, beat, 1.2 * job.total_s + 60)
            finally:
                if report is None:
                    # Hang up, and wait until the evaluation has ended: it may be writing still.
                    client.settimeout(CANCEL_LIMIT_S)
                    with contextlib.suppress(OSError):
                        client.shutdown(socket.SHUT_WR)
                        while client.recv(65536):
                            pass
        return load_report(report) if report is not None else self._died(job)

    def _died(self, job: Job) -> Report:
        self.close()
        reason = "the evaluator service died during the evaluation"
        return Report(job.job_id, Outcome.BROKEN_HOST, Phase.START, reason)

    def _ready(self) -> Path:
        """The address of a living service."""
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._folder is None:
            # Socket paths are short by law of the kernel (108 bytes), data folders need not be.
            self._folder = Path(tempfile.mkdtemp(prefix=owned_prefix("kopt")))
        address = self._folder / SOCKET
        if self._process is None:
            self._process = _start(address, self._policy)
            if self._lends:
                _note_of(self._policy).write_text(str(address))
        return address


def _connect(address: Path) -> socket.socket:
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        client.connect(str(address))
    except OSError:
        client.close()
        raise
    return client


def _note_of(policy: Policy) -> Path:
    """Where the address of a service that is lent stands: of this boot, checkout and sandbox."""
    key = hashlib.sha256("\n".join((host_key(), str(ROOT), policy.line())).encode())
    return Path(settings.DATA_DIR) / f"service-{key.hexdigest()[:16]}"


def _lent(policy: Policy) -> Path | None:
    """The address of a service that somebody lends, or lent until it was killed."""
    try:
        return Path(_note_of(policy).read_text())
    except OSError:
        return None


def sandbox_policy(memory_bytes: int = 0) -> Policy:
    """What the settings ask of the sandbox on this host. memory_bytes: less than they allow."""
    return Policy(
        require_all=settings.KOPT_SANDBOX == "ALL",
        memory_bytes=memory_bytes or int(settings.KOPT_RUNNER_MIB) << 20,
        cards={
            f"cuda:{place}": CardNode(card.uuid, card.minor)
            for place, card in enumerate(visible_cards())
        },
    )


def _start(address: Path, policy: Policy) -> subprocess.Popen[bytes]:
    # Of the judge's own kernels; runners have a cache in their scratch folder, and cannot see it.
    kernels = Path(settings.DATA_DIR) / "judge-kernels"
    kernels.mkdir(mode=0o700, parents=True, exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "campaigns.evaluator.service.zygote", str(address), policy.line()],
        cwd=ROOT,
        env=clean_environment() | {"TRITON_CACHE_DIR": str(kernels), KERNELS: str(kernels)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    if process.stdout is None:
        raise OSError("the evaluator service has no output")
    ready, _, _ = select.select([process.stdout], [], [], START_LIMIT_S)
    if not ready or process.stdout.readline() != b"ready\n":
        process.kill()
        process.wait()
        process.stdout.close()
        raise OSError(None, "the evaluator service did not start (is torch installed?)", address)
    return process


def clean_environment() -> dict[str, str]:
    """The part of this process's environment that measuring needs."""
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    # CUDA's own default is "fastest first"; cards are counted along the bus everywhere else.
    return kept | {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


def _follow(client: socket.socket, beat: Beat | None, limit_s: float) -> str | None:
    """Read progress until the report; None when the service went away or was silent too long."""
    deadline = time.monotonic() + limit_s
    phase, buffer, due = str(Phase.START), b"", -1
    while time.monotonic() < deadline:
        ready, _, _ = select.select([client], [], [], 1.0)
        if ready:
            data = client.recv(1 << 20)
            if not data:
                return None
            buffer += data
            while due < 0 and b"\n" in buffer:
                line, _, buffer = buffer.partition(b"\n")
                if line.startswith(b"report "):
                    due = int(line.split()[1])  # bytes
                elif line.startswith(b"phase "):
                    phase = line.decode().removeprefix("phase ").strip()
            if 0 <= due <= len(buffer):
                return buffer.decode()
        if beat and due < 0:
            beat(phase)
    return None


class InterpreterFailed(RuntimeError):
    """A fresh interpreter ended with an error; the message is its last line."""


def ask_interpreter(arguments: Sequence[str], limit_s: float) -> str:
    """What a fresh interpreter writes, started like the evaluator and with nothing to read.

    Raises InterpreterFailed, and subprocess.TimeoutExpired after `limit_s`.
    """
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=clean_environment(),
        input="",
        capture_output=True,
        text=True,
        check=False,
        timeout=limit_s,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit {done.returncode} without a message"]
        raise InterpreterFailed(lines[-1])
    return done.stdout
