"""Cores for the threads of a runner.

Threads that slept while their runner was stopped may wake together on one core, and the system
spreads them milliseconds later; between calls in use they hardly sleep. So the judge binds threads
that work in bursts to cores of their own, each to the one where it ran last if it has that to
itself. The first thread of a process is bound only until it has woken: what it learns of its cores,
and what the threads that it starts inherit, is as in use.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Collection, Mapping
from functools import cache

from campaigns.evaluator.judge.integrity.process_hold import cpu_s, stat_of, whole

# How much CPU time of a runner is looked at. A thread works in bursts if it took at least this
# share of what the busiest one took.
LEAST_S, SHARE = 5e-3, 1 / 8
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
            used_s = {one: int(whole(f"/proc/{one}/schedstat").split()[0]) / 1e9 for one in may}
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


def _last_cpu(thread: int) -> int:
    return int(stat_of(f"/proc/{thread}/stat")[LAST_CPU])


@cache
def _core_of(cpu: int) -> str:
    """The CPUs of one core, as the kernel lists them."""
    path = f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
    with contextlib.suppress(OSError):
        return whole(path).decode()
    return f"{cpu}"
