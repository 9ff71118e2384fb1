"""What the kernel lets us do: hardware counters and clocks. Nothing is changed."""

from __future__ import annotations

from pathlib import Path

from campaigns.devices import nvml
from campaigns.devices.discover import Device
from campaigns.devices.health.finding import HealthFinding, State

PROC = Path("/proc")
SYS = Path("/sys")
CAP_SYS_ADMIN = 21


def examine_permissions(devices: list[Device]) -> list[HealthFinding]:
    """Counters and clocks of every device."""
    found = [_gpu_counters(devices)] if any(d.kind == "gpu" for d in devices) else []
    return [*found, _cpu_counters(), *map(_clock, devices)]


def is_admin() -> bool:
    """Whether this process holds CAP_SYS_ADMIN, root in a container often does not."""
    effective = _field(PROC / "self/status", "CapEff")
    return bool(effective) and bool(int(effective, 16) >> CAP_SYS_ADMIN & 1)


def _gpu_counters(devices: list[Device]) -> HealthFinding:
    """ERR_NVGPUCTRPERM comes from this driver parameter unless the process is an administrator."""
    limited = _field(PROC / "driver/nvidia/params", "RmProfilingAdminOnly")
    name = "GPU counters"
    if limited == "0" or (limited == "1" and is_admin()):
        who = "every user" if limited == "0" else "this administrator"
        return HealthFinding(name, State.OK, f"allowed for {who}")
    found = (
        "only for administrators (ERR_NVGPUCTRPERM)"
        if limited == "1"
        else "the driver does not say"
    )
    remedy = "modprobe nvidia with NVreg_RestrictProfilingToAdminUsers=0, or grant CAP_SYS_ADMIN"
    return HealthFinding(name, State.MISSING, found, "profiles have times but no counters", remedy)


def _cpu_counters() -> HealthFinding:
    level = _text(PROC / "sys/kernel/perf_event_paranoid")
    if not level:
        return HealthFinding("CPU counters", State.NOTE, "this kernel has no perf events")
    return HealthFinding("CPU counters", State.NOTE, f"perf_event_paranoid = {level}")


def _clock(device: Device) -> HealthFinding:
    name = f"clock of {device.device}"
    if device.kind == "gpu":
        load = nvml.load(device.uuid)
        found = f"{load.clock_mhz} MHz now" if load else "the driver does not say"
        return HealthFinding(name, State.NOTE, found)
    governor = _text(SYS / "devices/system/cpu/cpu0/cpufreq/scaling_governor")
    found = f"governor {governor}" if governor else "fixed or hidden by the hypervisor"
    return HealthFinding(name, State.NOTE, found)


def _field(path: Path, name: str) -> str:
    lines = (line.partition(":") for line in _text(path).splitlines())
    return next((value.strip() for key, _, value in lines if key.strip() == name), "")


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
