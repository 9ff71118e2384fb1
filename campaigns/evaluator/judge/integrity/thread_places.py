"""Cores for the threads of a runner, and the CPU time that it takes; the judge reads both itself.

Threads that slept while their runner was stopped may wake together on one core, and the system
spreads them milliseconds later; between calls in use they hardly sleep. So the judge binds threads
that work in bursts to cores of their own, each to the one where it ran last if it has that to
itself. The first thread of a process is bound only until it has woken: what it learns of its cores,
and what the threads that it starts inherit, is as in use.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Collection, Mapping
from functools import cache

from campaigns.evaluator.judge.integrity.process_hold import stat_of, whole

# How much CPU time of a runner is looked at. A thread works in bursts if it took at least this
# share of what the busiest one took.
LEAST_NS, SHARE = 5_000_000, 1 / 8
# Nothing is bound where threads that have ended took more than the rest of this share of all.
LASTING = 0.9
# The CPU that a thread ran on last, behind its name in /proc/<pid>/task/<thread>/stat.
LAST_CPU = 36


class ThreadPlaces:
    """Where the threads of one runner may run. Those that a candidate binds stay as they are.

    cpus: what they may use; by default what this process may use.
    """

    def __init__(self, cpus: Collection[int] = ()) -> None:
        self._cpus = frozenset(cpus or os.sched_getaffinity(0))
        # CPU time of each thread and of all, when it was looked at.
        self._used_ns: Mapping[int, int] = {}
        self._all_ns = 0
        # The CPU of each thread that is bound.
        self._places: Mapping[int, int] = {}

    def bind(self, family: Collection[int]) -> None:
        """Before a burst, by what the bursts before took. family: processes, which are stopped."""
        used_ns = {thread: ns for pid in family for thread, ns in _threads(pid).items()}
        places, ours = self._places, [self._cpus, *({cpu} for cpu in self._places.values())]
        all_ns = cpu_ns(family)
        if (passed_ns := all_ns - self._all_ns) >= LEAST_NS:
            grown = {thread: ns - self._used_ns.get(thread, 0) for thread, ns in used_ns.items()}
            self._used_ns, self._all_ns = used_ns, all_ns
            lasts = sum(grown.values()) >= LASTING * passed_ns
            busy = [one for one, ns in grown.items() if ns >= SHARE * max(grown.values())]
            free = lasts and all(_cpus_of(thread) in ours for thread in busy)
            places = self._placed(busy) if free else {}
        for thread in used_ns:
            wanted = {places[thread]} if thread in places else self._cpus
            if (has := _cpus_of(thread)) in ours and has != wanted:
                _let_run(thread, wanted)
        self._places = places

    def release(self, family: Collection[int]) -> None:
        """Once they continue: let the first thread of each process run anywhere."""
        for pid in self._places.keys() & set(family):
            _let_run(pid, self._cpus)

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


def cpu_ns(family: Collection[int]) -> int:
    """CPU time of these processes so far, with their threads that have ended."""
    used_ns = 0
    for pid in family:
        with contextlib.suppress(OSError):
            # The clock of another process: CPUCLOCK_SCHED of clock_getcpuclockid.
            used_ns += time.clock_gettime_ns(~pid << 3 | 2)
    return used_ns


def _threads(pid: int) -> dict[int, int]:
    """CPU time of each thread of a process."""
    found = {}
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                found[int(thread)] = int(whole(f"/proc/{pid}/task/{thread}/schedstat").split()[0])
    return found


def _last_cpu(thread: int) -> int:
    with contextlib.suppress(OSError):
        return int(stat_of(f"/proc/{thread}/stat")[LAST_CPU])
    return -1


@cache
def _core_of(cpu: int) -> str:
    """The CPUs of one core, as the kernel lists them."""
    path = f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
    with contextlib.suppress(OSError):
        return whole(path).decode()
    return f"{cpu}"


def _cpus_of(thread: int) -> Collection[int]:
    with contextlib.suppress(OSError):
        return os.sched_getaffinity(thread)
    return ()


def _let_run(thread: int, cpus: Collection[int]) -> None:
    with contextlib.suppress(OSError):
        os.sched_setaffinity(thread, cpus)
