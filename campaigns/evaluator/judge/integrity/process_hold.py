"""Stop the runners while the judge works, so that they cannot compute early or late.

A runner's threads share the judge's memory. Awake while inputs are refreshed, they could have
answers ready before the clock starts; awake while outputs are compared, they could still write
them; and a waiting arm could slow the other one down. A stopped process may wake: a signal
continues it, for example from a timer of its own. So the judge also checks whether a stopped
process has run since.

Threads that slept while they were stopped may wake together on one core, and the system spreads
them milliseconds later; between calls in use they hardly sleep. So the judge binds threads that
work in bursts to cores of their own, each to the one where it ran last if it has that to itself.
The first thread of a process is bound only until it has woken: what it learns of its cores, and
what the threads that it starts inherit, is as in use.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections import Counter
from collections.abc import Collection, Mapping
from functools import cache

from campaigns.evaluator.contract.errors import HostError
from campaigns.evaluator.contract.job import CANDIDATE

# Stopped, traced, ended; D runs none of its own code and takes its signals before it does again.
AT_REST, STOPPED = frozenset("TtZXD"), frozenset("Tt")
LIMIT_S = 5.0
ROUNDS = 100
# Between two looks at an arm that is being ended.
PAUSE_S = 0.005
# A process that was sent SIGSTOP runs none of its own code. One that still used so much processor
# time, or slept this often, has woken itself or makes system calls that do not end; one that did
# neither had no core to stop on. The signal is repeated every AGAIN_S.
OWN_DOING_S, SLEEPS = 1.0, 20
AGAIN_S = 0.01
# Lines of a thread's status. What stands before them, its name, can hold no line break.
TELLING = (b"State:", b"voluntary_ctxt_switches:", b"nonvoluntary_ctxt_switches:")
# How much CPU time of a runner is looked at. A thread works in bursts if it took at least this
# share of what the busiest one took.
LEAST_S, SHARE = 5e-3, 1 / 8
# Nothing is bound where threads that have ended took more than the rest of this share of all.
LASTING = 0.9
# The CPU that a thread ran on last, behind its name in /proc/<pid>/task/<thread>/stat.
LAST_CPU = 36

# Larger than any of these files, except for a long list of children.
PART = 8192

Standing = dict[str, tuple[bytes, ...]]


class StopRefused(Exception):
    """A process of a runner kept the judge from stopping it; the message says how."""

    def __init__(self, words: str, pid: int) -> None:
        super().__init__(words)
        self.pid = pid


class ProcessHold:
    """Stops and continues every process of the runners.

    That is every process below the supervisor, except the judge and the wardens between the
    supervisor and a runner.
    """

    def __init__(self) -> None:
        self._me = os.getpid()
        self._supervisor = os.getppid()
        self._frozen = False
        self._awake: set[int] = set()
        self._ours: set[int] = {self._me}
        self._runners: dict[str, int] = {}
        self._helpers: set[int] = set()
        # The child of the supervisor that all processes of an arm are below, or the runner itself.
        self._tops: dict[str, int] = {}
        # What each process was below when all were stopped.
        self._owners: dict[int, int] = {}
        # The threads of each process when all were stopped, without those that were continued
        # since.
        self._stood: dict[int, Standing] = {}

    def know(self, name: str, runner: int, *, helps: bool = False) -> None:
        """Remember a runner, before it has read any of its foreign code.

        helps: whether it is none of an arm's, and is continued to help the judge.
        """
        self._runners[name] = pid = runner
        if helps:
            self._helpers.add(runner)
        self._tops[name] = pid
        while (pid := parent_of(pid)) not in (self._supervisor, 0):
            self._ours.add(pid)
            self._tops[name] = pid

    def freeze(self) -> None:
        """Stop them all and wait until none runs. Raises StopRefused, HostError."""
        if os.getppid() != self._supervisor or self._supervisor <= 1:
            # The processes found below it would belong to something else.
            raise HostError("the judge has lost its supervisor")
        deadline = time.monotonic() + LIMIT_S
        stopped: set[int] = set()
        self._frozen, self._awake, self._owners = True, set(), {}
        for _ in range(ROUNDS):
            tops = _tops_below(self._supervisor)
            fresh = tops.keys() - self._ours - below(self._me) - stopped
            self._owners.update((pid, tops[pid]) for pid in fresh)
            if not fresh:
                self._stood = {pid: _standing(pid) for pid in stopped}
                return
            for pid in fresh:
                _signal(pid, signal.SIGSTOP)
            used_s = {pid: cpu_s(pid) for pid in fresh}
            for pid in fresh:
                _await_rest(pid, deadline, used_s[pid])
            stopped |= fresh
        raise StopRefused("it keeps starting processes", max(fresh))

    def moved(self) -> int:
        """A process that has run since it was stopped and was not continued; 0 if there is none."""
        return next((pid for pid, stood in self._stood.items() if _standing(pid) != stood), 0)

    def whose(self, pid: int) -> str:
        """The name of the arm that a process belonged to when all were stopped, orphans too."""
        owner = self._owners.get(pid)
        return next((name for name, top in self._tops.items() if top == owner), CANDIDATE)

    def expel(self, name: str) -> None:
        """End an arm, and wait until nothing of it is left that could run. Raises HostError."""
        top, deadline = self._tops.pop(name, 0), time.monotonic() + LIMIT_S
        while left := (with_children(top) - self._ours if top else set()):
            for pid in left:
                _signal(pid, signal.SIGKILL)
            if time.monotonic() > deadline:
                raise HostError(f"process {min(left)} of a runner does not end")
            time.sleep(PAUSE_S)
        self._stood = {pid: s for pid, s in self._stood.items() if self._owners.get(pid) != top}

    def thaw(self, runner: int, family: set[int] | None = None) -> None:
        """Continue one runner and the processes that it started; orphans stay stopped."""
        if not self._frozen or runner in self._awake:
            return
        self._awake.add(runner)
        for pid in family or with_children(runner):
            self._stood.pop(pid, None)
            _signal(pid, signal.SIGCONT)

    def rest_helpers(self) -> None:
        """Stop what was continued to help the judge, before its clock runs.

        Raises StopRefused, HostError.
        """
        deadline = time.monotonic() + LIMIT_S
        for runner in self._helpers & self._awake:
            self._awake.discard(runner)
            for pid in with_children(runner):
                _signal(pid, signal.SIGSTOP)
                _await_rest(pid, deadline, cpu_s(pid))
                self._stood[pid] = _standing(pid)

    def kill(self, runner: int) -> None:
        """End one runner and what it started."""
        for pid in with_children(runner):
            _signal(pid, signal.SIGKILL)


class ThreadPlaces:
    """Where the threads of one runner may run. Those that a candidate binds stay as they are.

    cpus: what they may use; by default what this process may use.
    """

    def __init__(self, cpus: Collection[int] = ()) -> None:
        self._cpus = frozenset(cpus or os.sched_getaffinity(0))
        # CPU time of each thread and of all, when it was looked at.
        self._used_s: Mapping[int, float] = {}
        self._all_s = 0.0
        # The CPU of each thread that is bound.
        self._places: Mapping[int, int] = {}

    def bind(self, family: Collection[int]) -> None:
        """Before a burst, by what the bursts before took. family: processes, which are stopped.

        Raises OSError where one has just ended.
        """
        ours = [self._cpus, *({cpu} for cpu in self._places.values())]
        listed = (int(thread) for pid in family for thread in os.listdir(f"/proc/{pid}/task"))
        may = {one: cpus for one in listed if (cpus := os.sched_getaffinity(one)) in ours}
        all_s = sum(map(cpu_s, family))
        if (passed_s := all_s - self._all_s) >= LEAST_S:
            used_s = {one: int(_whole(f"/proc/{one}/schedstat").split()[0]) / 1e9 for one in may}
            grown = {one: seconds - self._used_s.get(one, 0.0) for one, seconds in used_s.items()}
            self._used_s, self._all_s = used_s, all_s
            lasts = sum(grown.values()) >= LASTING * passed_s
            busy = [one for one, s in grown.items() if s >= SHARE * max(grown.values())]
            self._places = self._placed(busy) if lasts else {}
        for one, cpus in may.items():
            wanted = {self._places[one]} if one in self._places else self._cpus
            if cpus != wanted:
                os.sched_setaffinity(one, wanted)

    def release(self, family: Collection[int]) -> None:
        """Once they continue: let the first thread of each process run anywhere. Raises OSError."""
        for pid in self._places.keys() & set(family):
            os.sched_setaffinity(pid, self._cpus)

    def _placed(self, threads: Collection[int]) -> dict[int, int]:
        """A CPU for each of several threads; none where there are fewer cores than threads."""
        if not 1 < len(threads) <= len(self._cpus):
            return {}
        found: dict[int, int] = {}
        taken = Counter[str]()
        for thread in threads:
            last = _last_cpu(thread)
            left = self._cpus - set(found.values())
            cpu = min(left, key=lambda cpu: (taken[_core_of(cpu)], cpu != last, cpu))
            taken[_core_of(cpu)] += 1
            found[thread] = cpu
        return found


def below(pid: int) -> set[int]:
    """All processes started by `pid` or by those; the process itself is not among them."""
    return set(_tops_below(pid))


def _tops_below(pid: int) -> dict[int, int]:
    """The same, each with the child of `pid` that it is below, or that it is."""
    found: dict[int, int] = {}
    left = [pid]
    while left:
        parent, children = left.pop(), set[int]()
        # A process or thread that ends while it is read has no children to name.
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{parent}/task"):
                with contextlib.suppress(OSError):
                    told = _whole(f"/proc/{parent}/task/{thread}/children")
                    children.update(map(int, told.split()))
        left += children - found.keys()
        found |= {child: found.get(parent, child) for child in children - found.keys()}
    return found


def with_children(runner: int) -> set[int]:
    """A process and all below it, which `ProcessHold.thaw` continues together."""
    return {runner} | below(runner)


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
    """Wait until a process is at rest. used_s: its processor time when it was sent SIGSTOP."""
    stood, again = _standing(pid), time.monotonic() + AGAIN_S
    while not _at_rest(pid):
        now = time.monotonic()
        if now > min(again, deadline) and cpu_s(pid) - used_s > OWN_DOING_S:
            raise StopRefused(f"it ran on for {OWN_DOING_S:g} s after it was stopped", pid)
        if now > deadline:
            if _slept(stood, _standing(pid)):
                raise StopRefused(f"it could not be stopped within {LIMIT_S:g} s", pid)
            raise HostError(f"process {pid} of a runner did not stop within {LIMIT_S:g} s")
        if now > again:
            # It may have stopped and woken itself before it was looked at.
            _signal(pid, signal.SIGSTOP)
            again = now + AGAIN_S
        os.sched_yield()


def _slept(before: Standing, after: Standing) -> bool:
    """Whether a thread has gone to sleep and woken, which none does on its way to being stopped."""

    def times(lines: tuple[bytes, ...]) -> int:
        """How often a thread gave up its CPU; 0 where the status has no such line."""
        return next((int(one.split()[1]) for one in lines if one.startswith(b"voluntary")), 0)

    known = ((lines, before[thread]) for thread, lines in after.items() if thread in before)
    return any(times(lines) - times(stood) > SLEEPS for lines, stood in known)


def cpu_s(pid: int) -> float:
    """Processor time of all threads so far, also of those that ended; 0 for an ended process."""
    with contextlib.suppress(OSError):
        # The clock of another process, as clock_getcpuclockid gives it.
        return time.clock_gettime(~pid << 3 | 2)
    return 0.0


def _at_rest(pid: int) -> bool:
    """Whether no thread of a process runs, and every stopped one is off its core.

    A thread counts as stopped some steps before it leaves. One whose core another thread takes in
    between leaves much later: only then is its last switch counted, as if it had run meanwhile.
    Linux waits until it has left before it shows its system call; some hosts show none.
    """
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return True
    for thread in threads:
        with contextlib.suppress(OSError):
            state = _stat(f"/proc/{pid}/task/{thread}/stat")[0]
            if state not in AT_REST:
                return False
            if state in STOPPED and _whole(f"/proc/{pid}/task/{thread}/syscall").startswith(
                b"running"
            ):
                return False
    return True


def _standing(pid: int) -> Standing:
    """State of every thread, and how often it has left its CPU; empty for an ended process.

    A thread that ran in between has another count, and one that still runs another state.
    """
    found: Standing = {}
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                lines = _whole(f"/proc/{pid}/task/{thread}/status").splitlines()
                found[thread] = tuple(line for line in lines if line.startswith(TELLING))
    return found


def _stat(path: str) -> list[str]:
    """The fields after the name, which is in brackets and may hold any byte."""
    stat = _whole(path)
    return stat[stat.rindex(b")") + 2 :].decode("ascii").split()


def _whole(path: str) -> bytes:
    """A file of /proc. Not by `Path`, since every thread of every runner is read at every stop."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = []
        while part := os.read(file, PART):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(file)


def _last_cpu(thread: int) -> int:
    return int(_stat(f"/proc/{thread}/stat")[LAST_CPU])


@cache
def _core_of(cpu: int) -> str:
    """The CPUs of one core, as the kernel lists them."""
    path = f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
    with contextlib.suppress(OSError):
        return _whole(path).decode()
    return f"{cpu}"
