"""Stop the runners while the judge works, so that nothing is computed ahead of time or behind it.

A runner's threads share the judge's memory. Were they awake while inputs are refreshed, they could
have the answers ready before the clock starts; were they awake while outputs are compared, they
could still be writing them. And an arm that waits for its turn could slow the other one down.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

from campaigns.evaluator.errors import HostError

# Stopped, traced, ended; D runs no code of its own and takes its signals before it does again.
AT_REST = frozenset("TtZXD")
LIMIT_S = 5.0
ROUNDS = 100
# A process that was told to stop runs no code of its own. One that nevertheless used this share of
# the limit did so in system calls that it made; one that used less had no core to stop on.
OWN_DOING = 0.2
# User and system time, in ticks, behind the name in /proc/<pid>/stat.
TIMES = slice(11, 13)


class Restless(Exception):
    """Processes of a runner kept the judge from stopping them; the message says how."""


class Hold:
    """Every process below the supervisor that is not ours: runners and what they started.

    Ours are the judge, and what stands between the supervisor and a runner.
    """

    def __init__(self) -> None:
        self._me = os.getpid()
        self._supervisor = os.getppid()
        self._frozen = False
        self._awake: set[int] = set()
        self._ours: set[int] = {self._me}

    def know(self, runner: int) -> None:
        """Learn of a runner, before it has read a byte of its candidate."""
        pid = runner
        while (pid := parent_of(pid)) not in (self._supervisor, 0):
            self._ours.add(pid)

    def freeze(self) -> None:
        """Stop them all and wait until none runs. Raises Restless, HostError."""
        if os.getppid() != self._supervisor or self._supervisor <= 1:
            # Whoever would be stopped now is none of ours.
            raise HostError("the judge has lost its supervisor")
        deadline = time.monotonic() + LIMIT_S
        stopped: set[int] = set()
        self._frozen, self._awake = True, set()
        for _ in range(ROUNDS):
            fresh = self._others() - stopped
            if not fresh:
                return
            for pid in fresh:
                _signal(pid, signal.SIGSTOP)
            used_s = {pid: _used_s(pid) for pid in fresh}
            for pid in fresh:
                _await_rest(pid, deadline, used_s[pid])
            stopped |= fresh
        raise Restless("it keeps starting processes")

    def thaw(self, runner: int) -> None:
        """Let one runner go on, with what it started; orphans stay stopped."""
        if not self._frozen or runner in self._awake:
            return
        self._awake.add(runner)
        for pid in {runner} | below(runner):
            _signal(pid, signal.SIGCONT)

    def kill(self, runner: int) -> None:
        """End one runner and what it started."""
        for pid in {runner} | below(runner):
            _signal(pid, signal.SIGKILL)

    def _others(self) -> set[int]:
        return below(self._supervisor) - self._ours - below(self._me)


def below(pid: int) -> set[int]:
    """All processes started by `pid` or by those; the process itself is not among them."""
    found: set[int] = set()
    left = [pid]
    while left:
        children = _children(left.pop()) - found
        found |= children
        left += children
    return found


def _children(pid: int) -> set[int]:
    found: set[int] = set()
    # A process or thread that ends while it is read has no children to name.
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                found |= set(
                    map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())
                )
    return found


def parent_of(pid: int) -> int:
    """The process id of a parent; 0 above the first process, and of one that has ended."""
    try:
        return int(_stat(f"/proc/{pid}/stat")[1])
    except OSError:
        return 0


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
    except PermissionError:
        raise HostError(f"the judge may not stop process {pid} of a runner") from None


def _await_rest(pid: int, deadline: float, used_s: float) -> None:
    """used_s: processor time of the process when it was told to stop."""
    while not _at_rest(pid):
        if time.monotonic() > deadline:
            if _used_s(pid) - used_s > OWN_DOING * LIMIT_S:
                raise Restless(f"its system calls did not let it be stopped within {LIMIT_S:g} s")
            raise HostError(f"process {pid} of a runner did not stop within {LIMIT_S:g} s")
        os.sched_yield()


def _used_s(pid: int) -> float:
    """Processor time of all threads so far; 0 for a process that has ended."""
    try:
        ticks = sum(map(int, _stat(f"/proc/{pid}/stat")[TIMES]))
    except OSError:
        return 0.0
    return ticks / os.sysconf("SC_CLK_TCK")


def _at_rest(pid: int) -> bool:
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return True
    return all(_state(pid, thread) in AT_REST for thread in threads)


def _state(pid: int, thread: str) -> str:
    try:
        return _stat(f"/proc/{pid}/task/{thread}/stat")[0]
    except OSError:
        return "X"


def _stat(path: str) -> list[str]:
    """What follows the name, which stands in brackets and may hold any byte: a runner chose it."""
    stat = Path(path).read_bytes()
    return stat[stat.rindex(b")") + 2 :].decode("ascii").split()
