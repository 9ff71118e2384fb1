"""What the kernel lets us do: hardware counters, sandbox features, clocks. Nothing is changed."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
from pathlib import Path

from campaigns.devices import nvml
from campaigns.devices.discover import Device
from campaigns.devices.health.finding import Finding, State

PROC = Path("/proc")
SYS = Path("/sys")
CAP_SYS_ADMIN = 21
LANDLOCK_CREATE_RULESET = 444  # the same number on every architecture
LANDLOCK_CREATE_RULESET_VERSION = 1
SANDBOX = "candidates are kept apart from this host less strictly"


def examine_permissions(devices: list[Device]) -> list[Finding]:
    """Counters and clocks of every device, then the sandbox."""
    found = [_gpu_counters(devices)] if any(d.kind == "gpu" for d in devices) else []
    found += [_cpu_counters(), *map(_clock, devices)]
    return [*found, _landlock(), _seccomp(), _user_namespaces(), _cgroup()]


def landlock_abi() -> int:
    """The Landlock version of the running kernel; 0 where there is none."""
    libc = ctypes.CDLL(None, use_errno=True)
    version: int = libc.syscall(LANDLOCK_CREATE_RULESET, None, 0, LANDLOCK_CREATE_RULESET_VERSION)
    return max(0, version)


def is_admin() -> bool:
    """Whether this process holds CAP_SYS_ADMIN, root in a container often does not."""
    effective = _field(PROC / "self/status", "CapEff")
    return bool(effective) and bool(int(effective, 16) >> CAP_SYS_ADMIN & 1)


def _gpu_counters(devices: list[Device]) -> Finding:
    """ERR_NVGPUCTRPERM comes from this driver parameter unless the process is an administrator."""
    limited = _field(PROC / "driver/nvidia/params", "RmProfilingAdminOnly")
    name = "GPU counters"
    if limited == "0" or (limited == "1" and is_admin()):
        who = "every user" if limited == "0" else "this administrator"
        return Finding(name, State.OK, f"allowed for {who}")
    found = (
        "only for administrators (ERR_NVGPUCTRPERM)"
        if limited == "1"
        else "the driver says nothing"
    )
    remedy = "modprobe nvidia with NVreg_RestrictProfilingToAdminUsers=0, or grant CAP_SYS_ADMIN"
    return Finding(name, State.MISSING, found, "profiles have times but no counters", remedy)


def _cpu_counters() -> Finding:
    level = _text(PROC / "sys/kernel/perf_event_paranoid")
    if not level:
        return Finding("CPU counters", State.NOTE, "this kernel has no perf events")
    return Finding("CPU counters", State.NOTE, f"perf_event_paranoid = {level}")


def _clock(device: Device) -> Finding:
    name = f"clock of {device.device}"
    if device.kind == "gpu":
        load = nvml.load(device.uuid)
        found = f"{load.clock_mhz} MHz now" if load else "the driver does not say"
        return Finding(name, State.NOTE, found)
    governor = _text(SYS / "devices/system/cpu/cpu0/cpufreq/scaling_governor")
    found = f"governor {governor}" if governor else "fixed or hidden by the hypervisor"
    return Finding(name, State.NOTE, found)


def _landlock() -> Finding:
    abi = landlock_abi()
    if abi:
        return Finding("Landlock", State.OK, f"ABI {abi}")
    remedy = "a kernel of 5.13 or newer with lsm=landlock"
    return Finding("Landlock", State.MISSING, f"none in {platform.release()}", SANDBOX, remedy)


def _seccomp() -> Finding:
    actions = _text(PROC / "sys/kernel/seccomp/actions_avail")
    if actions:
        return Finding("seccomp", State.OK, actions)
    remedy = "a kernel with CONFIG_SECCOMP_FILTER"
    return Finding("seccomp", State.MISSING, "none", SANDBOX, remedy)


def _user_namespaces() -> Finding:
    """Tried in a child: the limits in /proc do not tell what a container forbids."""
    name = "user namespaces"
    unshare = shutil.which("unshare")
    if unshare is None:
        limit = _text(PROC / "sys/user/max_user_namespaces") or "none"
        return Finding(name, State.NOTE, f"not tried (no unshare); at most {limit}")
    tried = subprocess.run(
        [unshare, "--user", "--net", "--ipc", "true"], capture_output=True, text=True, check=False
    )
    if tried.returncode == 0:
        return Finding(name, State.OK, "user, network and IPC namespaces can be made")
    said = (tried.stderr.strip().splitlines() or [f"exit {tried.returncode}"])[-1]
    remedy = "sysctl kernel.unprivileged_userns_clone=1, or run the worker as root"
    return Finding(name, State.MISSING, said, SANDBOX, remedy)


def _cgroup() -> Finding:
    controllers = _text(SYS / "fs/cgroup/cgroup.controllers")
    if controllers:
        own = os.access(SYS / "fs/cgroup", os.W_OK)
        return Finding("cgroup v2", State.OK, f"{controllers}{'' if own else ' (read only)'}")
    found = "only v1" if (SYS / "fs/cgroup").is_dir() else "none"
    remedy = "boot with systemd.unified_cgroup_hierarchy=1"
    return Finding("cgroup v2", State.MISSING, found, "memory is limited per process only", remedy)


def _field(path: Path, name: str) -> str:
    lines = (line.partition(":") for line in _text(path).splitlines())
    return next((value.strip() for key, _, value in lines if key.strip() == name), "")


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
