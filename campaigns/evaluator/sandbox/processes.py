"""Process plumbing shared by service and supervisor: fork, die with the parent, kill a group."""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import secrets
import signal
import time
import traceback
from collections.abc import Callable
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
GENERATIONS = 200
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
# The largest piece that glibc lets one keep, and how much is kept in all.
LARGEST_KEPT, MOST_KEPT = 32 << 20, 1 << 30
NUMPY_SEED_BITS, SEED_BITS = 32, 62


def die_with_parent(parent: int) -> None:
    """Ask the kernel to kill this process when its parent, process `parent`, ends.

    Only for children of single-threaded parents: the signal follows the forking *thread*. To be
    asked for again after a change of user, which clears it.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # A parent outside of this PID namespace has no number here.
    if os.getppid() not in (parent, 0):
        os._exit(1)


def keep_freed_memory() -> None:
    """Have what this process frees kept for its next use; to be called before it takes much.

    The allocator gives large pieces back to the system at once, and the pages of the next one are
    made anew: where large tensors come and go that takes longer than the work on them.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # glibc's; another allocator has other habits
        mallopt(M_MMAP_THRESHOLD, LARGEST_KEPT)
        mallopt(M_TRIM_THRESHOLD, MOST_KEPT)


def adopt_orphans(*, adopt: bool = True) -> None:
    """Let processes that leave their group and lose their parent fall to this one, or no more."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(adopt), 0, 0, 0)


def end_descendants() -> None:
    """Kill every child of this process, again and again: orphans of a dead child come to us."""
    me = os.getpid()
    for _ in range(GENERATIONS):
        listed = Path(f"/proc/{me}/task/{me}/children").read_text().split()
        if not listed:
            return
        for child in map(int, listed):
            kill_group(child)
            wait_status(child, 5.0)


def fork(body: Callable[[], int], log: int, keep: tuple[int, ...] = ()) -> int:
    """Run `body` in a child of its own process group with stdout and stderr in `log`.

    Of all open files the child has only these two and `keep`: what the parent talks to others with
    is not for it. Returns the child's pid. The child never returns into the caller's code.
    """
    parent = os.getpid()
    # Who is told to end before it has a handler of its own must not run its parent's, and lose it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    child = -1
    try:
        child = os.fork()
    finally:
        if child:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    if child:
        # Both sides set the group, so that neither can be too late for a kill.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.setpgid(child, child)
        return child
    status = 1
    try:
        os.setpgid(0, 0)
        die_with_parent(parent)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for name in os.listdir("/proc/self/fd"):
            if int(name) not in {0, 1, 2, *keep}:
                with contextlib.suppress(OSError):
                    os.close(int(name))
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        status = body()
    except BaseException:  # noqa: BLE001 - the child's outermost edge: log, then leave
        traceback.print_exc()
    finally:
        os._exit(status)


def kill_group(pid: int) -> None:
    """Kill `pid` and everything still in its process group."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def wait_status(pid: int, grace_s: float) -> int | None:
    """Wait up to `grace_s` seconds for `pid`; its wait status, or None while it still runs."""
    deadline = time.monotonic() + grace_s
    while True:
        try:
            done, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return 0
        if done:
            return status
        if time.monotonic() > deadline:
            return None
        time.sleep(0.005)


def describe_status(status: int | None) -> str:
    """A wait status in words: "killed by SIGSEGV", "exit status 3", "still running"."""
    if status is None:
        return "still running"
    if os.WIFSIGNALED(status):
        return f"killed by {signal.Signals(os.WTERMSIG(status)).name}"
    return f"exit status {os.waitstatus_to_exitcode(status)}"


def draw_apart() -> None:
    """Have random numbers without a seed be other ones than those of the process forked from."""
    import numpy
    import torch

    torch.manual_seed(secrets.randbits(SEED_BITS))
    random.seed(secrets.randbits(SEED_BITS))
    numpy.random.seed(secrets.randbits(NUMPY_SEED_BITS))
    # Answers are compared with a full float32.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
