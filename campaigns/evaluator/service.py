"""The zygote: a process that has imported torch, never touched CUDA, and forks every evaluation.

Started as `python -m campaigns.evaluator.service SOCKET`. Each connection is one evaluation: the
client sends `JOB-FILE REPORT-FILE`, a forked supervisor answers with lines `phase NAME` and at
last `done`. A fork has torch within milliseconds; a fresh interpreter needs seconds. The service
ends when its standard input closes, so it never outlives whoever started it, however that died.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from pathlib import Path

from campaigns.evaluator import supervisor
from campaigns.evaluator.processes import die_with_parent

LINE_LIMIT = 8192


def main(path: str) -> int:
    """Serve until standard input closes."""
    os.environ.update(QUIET_THREADS)
    import torch

    # Fork safety: nothing here may start a thread pool or a device context.
    if torch.cuda.is_initialized():
        raise RuntimeError("the zygote must not touch CUDA")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(path)
        os.chmod(path, 0o600)
        server.listen(8)
        print("ready", flush=True)
        children: set[int] = set()
        while True:
            ready, _, _ = select.select([server, sys.stdin], [], [], 0.5)
            _reap(children)
            if sys.stdin in ready and not os.read(sys.stdin.fileno(), 4096):
                break
            if server in ready:
                children.add(_fork_supervisor(server))
    for child in children:
        _kill(child)
    Path(path).unlink(missing_ok=True)
    return 0


# The judge and the interpreter's libraries must not spin beside the kernel being timed. The runner
# takes these back before it loads a candidate.
QUIET_THREADS = {"OMP_WAIT_POLICY": "PASSIVE", "OPENBLAS_NUM_THREADS": "1"}


def _fork_supervisor(server: socket.socket) -> int:
    client, _ = server.accept()
    child = os.fork()
    if child:
        client.close()
        return child
    status = 1
    try:
        server.close()
        os.setpgid(0, 0)
        die_with_parent()
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        status = _serve(client)
    finally:
        os._exit(status)


def _serve(client: socket.socket) -> int:
    request = client.makefile("r").readline(LINE_LIMIT).split()
    if len(request) != 2:
        client.sendall(b"refused: expected JOB-FILE REPORT-FILE\n")
        return 1
    supervisor.supervise(Path(request[0]), Path(request[1]), client)
    client.sendall(b"done\n")
    return 0


def _reap(children: set[int]) -> None:
    for child in list(children):
        done, _ = os.waitpid(child, os.WNOHANG)
        if done:
            children.discard(child)


def _kill(child: int) -> None:
    try:
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)
    except (ProcessLookupError, ChildProcessError):
        pass


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
