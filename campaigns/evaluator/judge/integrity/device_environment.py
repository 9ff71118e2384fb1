"""Facts about device and host, read from the system."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

import torch

from campaigns.evaluator.ceilings import host


def last_level_cache_bytes(device: torch.device) -> int:
    """Size of the last cache before memory, as the system reports it; 0 when it does not say."""
    if device.type == "cuda":
        return int(torch.cuda.get_device_properties(device).L2_cache_size)
    return host.last_level_cache_bytes()


def free_bytes(device: torch.device) -> int:
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    available = host.memory_available_bytes()
    return available or os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def describe(device: torch.device) -> dict[str, str]:
    """Names and versions for the report."""
    found = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "kernel": platform.release(),
        "host": platform.node(),
        "device": host.cpu_name(),
        "cores": str(host.cpus_usable()),
        "omp_wait_policy": os.environ.get("OMP_WAIT_POLICY", "default").lower(),
    }
    if device.type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        found["device"] = properties.name
        found["compute_capability"] = f"{properties.major}.{properties.minor}"
        found["multiprocessors"] = str(properties.multi_processor_count)
        found["cuda"] = str(torch.version.cuda)
        found["driver"] = _driver()
    return found


def _driver() -> str:
    """The version of the loaded kernel module; asking nvidia-smi would take a process."""
    path = Path("/proc/driver/nvidia/version")
    found = re.search(r"\b\d{3,}\.\d[\d.]*", path.read_text()) if path.exists() else None
    return found.group() if found else "unknown"
