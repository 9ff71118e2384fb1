"""How much of the CPU time others took while something was measured."""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from campaigns.evaluator.host import text_of

BUSY_LIMIT = 0.10
STAT = Path("/proc/stat")
# user nice system idle iowait irq softirq steal, in ticks; what follows is in `user` already.
STAT_LINE = re.compile(r"^cpu(\d+)((?: \d+){8})", re.MULTILINE)


@dataclass(slots=True)
class BusyWatch:
    """others_share: of the time of all usable CPUs, once watching ended; None where not told.

    Time that a hypervisor gave to other machines counts as others' time.
    """

    others_share: float | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """A warning where the share is above BUSY_LIMIT; also where it is not known."""
        if self.others_share is None:
            return ("the kernel does not say how busy the host was during the measurement",)
        if self.others_share <= BUSY_LIMIT:
            return ()
        return (
            f"the host was busy: others took {self.others_share:.0%} of its CPU time "
            f"(accepted: {BUSY_LIMIT:.0%}), so these ceilings may be too low; "
            "measure again when it is idle",
        )


@contextmanager
def watched() -> Iterator[BusyWatch]:
    """Watch the usable CPUs for the duration of a block."""
    watch = BusyWatch()
    before, own = cpu_time(), _own_s()
    yield watch
    after = cpu_time()
    if before is None or after is None or after.total_s <= before.total_s:
        return
    others_s = after.busy_s - before.busy_s - (_own_s() - own)
    watch.others_share = min(1.0, max(0.0, others_s / (after.total_s - before.total_s)))


def _own_s() -> float:
    """CPU seconds of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@dataclass(frozen=True, slots=True)
class CpuTime:
    """Seconds since the start of the machine, over the CPUs that this process may run on."""

    busy_s: float
    total_s: float


def cpu_time() -> CpuTime | None:
    """How long the usable CPUs worked, for whomever; None where the kernel does not say."""
    usable = os.sched_getaffinity(0)
    found = STAT_LINE.findall(text_of(STAT))
    rows = [[int(ticks) for ticks in row.split()] for cpu, row in found if int(cpu) in usable]
    if not rows:
        return None
    per_s = os.sysconf("SC_CLK_TCK")
    total, idle = sum(map(sum, rows)), sum(row[3] + row[4] for row in rows)
    return CpuTime((total - idle) / per_s, total / per_s)
