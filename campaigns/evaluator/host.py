"""Facts about this host that a measurement depends on, read from the kernel."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
MEMINFO = Path("/proc/meminfo")
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
STAT = Path("/proc/stat")
# user nice system idle iowait irq softirq steal, in ticks; what follows is in `user` already.
STAT_LINE = re.compile(r"^cpu(\d+)((?: \d+){8})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CpuTime:
    """Seconds since the start of the machine, over the CPUs that this process may run on."""

    busy_s: float
    total_s: float


def cpu_time() -> CpuTime | None:
    """How long the usable CPUs worked, for whomever; None where the kernel does not say."""
    usable = os.sched_getaffinity(0)
    found = STAT_LINE.findall(_text(STAT))
    rows = [[int(ticks) for ticks in row.split()] for cpu, row in found if int(cpu) in usable]
    if not rows:
        return None
    per_s = os.sysconf("SC_CLK_TCK")
    total, idle = sum(map(sum, rows)), sum(row[3] + row[4] for row in rows)
    return CpuTime((total - idle) / per_s, total / per_s)


def cpu_name() -> str:
    """The model name in /proc/cpuinfo, else the machine's architecture."""
    found = re.search(r"^model name\s*:\s*(\S.*)$", _text(CPUINFO), re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def cpus_usable() -> int:
    """How many CPUs this process may run on."""
    return len(os.sched_getaffinity(0))


def cpu_clocks_mhz() -> list[float]:
    """The current clock of every CPU in MHz; empty where the kernel does not say."""
    return [float(mhz) for mhz in re.findall(r"^cpu MHz\s*:\s*([\d.]+)$", _text(CPUINFO), re.M)]


def memory_available_bytes() -> int:
    """MemAvailable; 0 where the kernel does not say."""
    found = re.search(r"^MemAvailable:\s*(\d+) kB$", _text(MEMINFO), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def last_level_cache_bytes() -> int:
    """The size of the highest cache level of CPU 0; 0 where the kernel does not say."""
    sizes: dict[int, int] = {}
    for folder in sorted(CACHES.glob("index*")):
        level, size = _text(folder / "level").strip(), _text(folder / "size").strip()
        if level.isdigit() and re.fullmatch(r"\d+K", size):
            sizes[int(level)] = int(size[:-1]) * 1024
    return sizes[max(sizes)] if sizes else 0


def first_line(*command: str) -> str:
    """The first line that a tool prints; empty when it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.partition("\n")[0].strip()


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
