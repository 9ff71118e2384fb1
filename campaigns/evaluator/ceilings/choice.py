"""Which of the measured rates are ceilings, and what weakens them."""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from campaigns.evaluator.ceilings.result import MeasuredCeiling, Sample, ceiling_of, highest
from campaigns.evaluator.host import text_of

MIB = 2**20
# Arrays of together this many times the last-level cache are not helped by it: cold.
COLD_CACHES = 4
# Arrays that together fill at most one of this many parts of the cache stay in it: warm.
WARM_PARTS = 2
ARRAYS = {"copy_bandwidth": 2, "read_bandwidth": 1, "write_bandwidth": 1}
COLD, WARM = "cold", "warm"
SPREAD_LIMIT = 0.10
# Of the CPU time, taken by others while something was measured.
BUSY_LIMIT = 0.10
STAT = Path("/proc/stat")
# user nice system idle iowait irq softirq steal, in ticks; what follows is in `user` already.
STAT_LINE = re.compile(r"^cpu(\d+)((?: \d+){8})", re.MULTILINE)


# The ceilings, and notes on what weakens them.
Chosen = tuple[tuple[MeasuredCeiling, ...], tuple[str, ...]]


def choose(samples: Sequence[Sample], cache_bytes: int) -> Chosen:
    """The ceilings, and notes on what weakens them.

    First the best rate of every metric, dtype and load: of bandwidths over cold arrays, or, where
    the cache size is not known or memory is short, over the largest arrays, with a note. Then the
    best warm bandwidths, then every size of array by itself.
    """
    moved = [sample for sample in samples if sample.metric in ARRAYS]
    plateau, notes = _plateau(moved, cache_bytes)
    metrics = [metric for metric in ARRAYS if any(s.metric == metric for s in moved)]
    found = [highest((s for s in moved if _used(s) >= plateau), name) for name in metrics]
    kinds = dict.fromkeys((s.metric, s.dtype, s.load) for s in samples if s.metric not in ARRAYS)
    found += [highest(samples, *kind) for kind in kinds]
    plain = [ceiling for ceiling in found if ceiling is not None]
    warm = [s for s in moved if cache_state(s, cache_bytes) == WARM]
    found = [highest(warm, metric, cache=WARM) for metric in metrics]
    every = (*plain, *(ceiling for ceiling in found if ceiling is not None))
    every += swept(moved, cache_bytes)
    return every, (*notes, *_spread_notes(plain))


def swept(moved: Sequence[Sample], cache_bytes: int) -> tuple[MeasuredCeiling, ...]:
    """The best rate of every size of array by itself, a metric after the other."""
    found = []
    for metric in (metric for metric in ARRAYS if any(s.metric == metric for s in moved)):
        mine = [sample for sample in moved if sample.metric == metric]
        for size in sorted({sample.array_bytes for sample in mine}):
            top = max((s for s in mine if s.array_bytes == size), key=lambda sample: sample.best)
            state = cache_state(top, cache_bytes)
            found.append(ceiling_of(top, cache=state, array_bytes=size))
    return tuple(found)


def cache_state(sample: Sample, cache_bytes: int) -> str:
    """COLD, WARM, or empty: neither, or the size of the cache is not known."""
    if not cache_bytes:
        return ""
    if _used(sample) >= COLD_CACHES * cache_bytes:
        return COLD
    return WARM if _used(sample) * WARM_PARTS <= cache_bytes else ""


def _used(sample: Sample) -> int:
    return ARRAYS[sample.metric] * sample.array_bytes


def _plateau(moved: Sequence[Sample], cache_bytes: int) -> tuple[int, list[str]]:
    """The least bytes of all arrays that the caches do not help, as far as they were measured."""
    # Every metric has to have a size there.
    most = [max(map(_used, (s for s in moved if s.metric == m))) for m in {s.metric for s in moved}]
    largest = min(most, default=0)
    wanted = cache_bytes * COLD_CACHES
    if not moved or (cache_bytes and wanted <= largest):
        return wanted, []
    known = f"{cache_bytes / MIB:g} MiB" if cache_bytes else "unknown"
    return largest, [
        f"last-level cache {known}, largest arrays {largest / MIB:g} MiB: "
        "caches may have helped copy_bandwidth, read_bandwidth and write_bandwidth"
    ]


def _spread_notes(ceilings: Iterable[MeasuredCeiling]) -> list[str]:
    spreads = {c: 1 - c.median_rate / c.rate for c in ceilings}
    wide = [
        f"{' '.join(filter(None, (c.metric, c.dtype, c.load)))} {spread:.0%}"
        for c, spread in spreads.items()
        if spread > SPREAD_LIMIT
    ]
    if not wide:
        return []
    return [
        f"half of the repeats were more than {SPREAD_LIMIT:.0%} below the best: {', '.join(wide)}; "
        "the host or device was busy or its clock moved, so these ceilings may be too low; "
        "measure again when it is idle"
    ]


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
