"""Facts about this host that a measurement depends on, read from the kernel."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
MEMINFO = Path("/proc/meminfo")
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


def cpu_name() -> str:
    """The model name in /proc/cpuinfo, else the machine's architecture."""
    found = re.search(r"^model name\s*:\s*(\S.*)$", text_of(CPUINFO), re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def cpus_usable() -> int:
    """How many CPUs this process may run on."""
    return len(os.sched_getaffinity(0))


def cpu_clocks_mhz() -> list[float]:
    """The current clock of every CPU in MHz; empty where the kernel does not say."""
    return [float(mhz) for mhz in re.findall(r"^cpu MHz\s*:\s*([\d.]+)$", text_of(CPUINFO), re.M)]


def memory_available_bytes() -> int:
    """MemAvailable; 0 where the kernel does not say."""
    found = re.search(r"^MemAvailable:\s*(\d+) kB$", text_of(MEMINFO), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def last_level_cache_bytes() -> int:
    """The size of the highest cache level of CPU 0; 0 where the kernel does not say."""
    sizes: dict[int, int] = {}
    for folder in sorted(CACHES.glob("index*")):
        level, size = text_of(folder / "level").strip(), text_of(folder / "size").strip()
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


def text_of(path: Path) -> str:
    """The contents of a kernel file; "" where it is missing, gone or not to be read.

    It may contain the name of a process, which can hold any byte.
    """
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
