"""The zygote: a process that has imported torch, never touched CUDA, and forks every evaluation.

Started as `python -m campaigns.evaluator.service.zygote SOCKET POLICY` (sandbox/policy.py). Each
connection is one evaluation: the client sends `DEVICE RIVALS JOB-FILE`, a forked supervisor answers
with lines `phase NAME` and at last with `report BYTES` and the report. A fork has torch within
milliseconds; a fresh interpreter needs seconds. On a GPU one crew waits in reserve with its device
started, forked while the job before it was compiling; any line on standard input ends that one. The
service ends when its standard input closes, so it never outlives its starter.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

from campaigns.evaluator.contract.files import dump
from campaigns.evaluator.sandbox.policy import Policy
from campaigns.evaluator.sandbox.processes import adopt_orphans, die_with_parent
from campaigns.evaluator.service.crew import Crew
from campaigns.evaluator.service.jobs import aids_of_judge
from campaigns.evaluator.service.supervisor import Outside, supervise

LINE_LIMIT = 8192
# A crew in reserve holds device memory; after this long without a job it gives it back.
RESERVE_S = 60.0
# The judge and the interpreter's libraries must not spin beside the kernel being timed. A candidate
# that uses OpenMP shares the runtime that torch has loaded, so this holds for it as well; reports
# say so under `omp_wait_policy`.
QUIET_THREADS = {"OMP_WAIT_POLICY": "PASSIVE", "OPENBLAS_NUM_THREADS": "1"}


def main(path: str, policy: Policy) -> int:
    """Serve until standard input closes."""
    os.environ.update(QUIET_THREADS)
    # Tried before anything large is loaded, while forks are cheap and there is one thread.
    policy.examine()
    import torch

    from campaigns.evaluator.contract import backends

    # Imported for every fork to have.
    importlib.import_module("campaigns.evaluator.judge.pipeline")
    aids_of_judge()
    backends.every()
    # Fork safety: nothing here may start a thread pool or a device context.
    if torch.cuda.is_initialized():
        raise RuntimeError("the zygote must not touch CUDA")
    # What was imported stays: a collection in a fork would touch, and so copy, all of it.
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(path)
        os.chmod(path, 0o600)
        server.listen(8)
        print("ready", flush=True)
        Zygote(server, policy).serve()
    Path(path).unlink(missing_ok=True)
    return 0


class Zygote:
    """The loop that takes connections and forks; it never waits for anything else."""

    def __init__(self, server: socket.socket, policy: Policy) -> None:
        self._server = server
        self.policy = policy
        self._children: set[int] = set()
        self._reserve: tuple[int, socket.socket] | None = None
        self._wishes, self._wish = os.pipe()
        self.starting = os.memfd_create("kopt-starting", os.MFD_CLOEXEC)

    def serve(self) -> None:
        waited = [self._server.fileno(), sys.stdin.fileno(), self._wishes]
        while True:
            ready, _, _ = select.select(waited, [], [], 0.5)
            self._reap()
            if sys.stdin.fileno() in ready:
                if not os.read(sys.stdin.fileno(), 4096):
                    break
                self._end_reserve()
            if self._wishes in ready:
                device = os.read(self._wishes, 4096).decode().splitlines()[-1]
                if self._reserve is None:
                    self._hold_in_reserve(device)
            if self._server.fileno() in ready:
                client, _ = self._server.accept()
                with client:
                    self._give_work(client)
        for child in self._children:
            _end(child)

    def _give_work(self, client: socket.socket) -> None:
        reserve, self._reserve = self._reserve, None
        if reserve is None or not _hand_over(client, reserve[1]):
            self._fork(lambda: _serve(client, self, None))

    def _end_reserve(self) -> None:
        """Hang up: the crew in reserve ends by itself then, and gives its device back."""
        if self._reserve is not None:
            self._reserve[1].close()
            self._reserve = None

    def _hold_in_reserve(self, device: str) -> None:
        ours, theirs = socket.socketpair()
        self._reserve = self._fork(lambda: _wait_in_reserve(device, theirs, ours, self)), ours
        theirs.close()

    def ask_for_reserve(self, device: str) -> None:
        """Called in a supervisor's process: ask the zygote for a crew in reserve."""
        if device.startswith("cuda"):
            os.write(self._wish, f"{device}\n".encode())

    def _fork(self, body: Callable[[], int]) -> int:
        zygote = os.getpid()
        child = os.fork()
        if child:
            self._children.add(child)
            return child
        status = 1
        try:
            self._server.close()
            os.setpgid(0, 0)
            die_with_parent(zygote)
            # Ends through `finally`, so that no member of a crew outlives its supervisor.
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
            null = os.open(os.devnull, os.O_RDONLY)
            os.dup2(null, 0)
            status = body()
        finally:
            os._exit(status)

    def _reap(self) -> None:
        for child in list(self._children):
            done, _ = os.waitpid(child, os.WNOHANG)
            if not done:
                continue
            self._children.discard(child)
            if self._reserve is not None and self._reserve[0] == child:
                self._end_reserve()


def _wait_in_reserve(
    device: str, control: socket.socket, other: socket.socket, zygote: Zygote
) -> int:
    """Start a crew and wait for a connection to serve with it."""
    other.close()
    adopt_orphans()
    crew = Crew(device, zygote.policy, zygote.starting)
    try:
        control.settimeout(RESERVE_S)
        data, fds, _, _ = socket.recv_fds(control, 16, 1)
        if not data or not fds:
            return 0
        with socket.socket(fileno=fds[0]) as client:
            return _serve(client, zygote, crew)
    except TimeoutError:
        return 0
    finally:
        crew.end()


def _hand_over(client: socket.socket, control: socket.socket) -> bool:
    """Give a connection to the crew in reserve; False when that has just ended by itself."""
    with control, contextlib.suppress(OSError):
        socket.send_fds(control, [b"work"], [client.fileno()])
        return True
    return False


def _serve(client: socket.socket, zygote: Zygote, crew: Crew | None) -> int:
    told = client.makefile("r").readline(LINE_LIMIT).strip().split(" ", 2)
    if len(told) < 3 or not told[1].isdigit():
        client.sendall(b"refused: expected DEVICE RIVALS JOB-FILE\n")
        return 1
    device, rivals, job_file = told
    adopt_orphans()
    wish, policy = zygote.ask_for_reserve, zygote.policy
    outside = Outside(client, wish, policy, zygote.starting, int(rivals))
    report = dump(supervise(Path(job_file), device, outside, crew)).encode()
    with contextlib.suppress(ConnectionError):  # a worker that has gone reads no report
        client.sendall(b"report %d\n" % len(report) + report)
    return 0


def _end(child: int) -> None:
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Policy.read(sys.argv[2])))
