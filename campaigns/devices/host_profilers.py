"""Whether the profilers of this host may count: GPU counters, thread traces, CPU counters (R7).

A refusal is never a fault of the host: then there is no profile evidence, and times stand. Readers
are pure and take what a file or a program says.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from campaigns.devices.discover import Device, torch_has_cuda
from campaigns.devices.hold import DeviceBusy, hold
from campaigns.devices.host_software import HealthFinding, State, at_least, rocm_homes
from campaigns.devices.launch import PASSED_ON
from campaigns.evaluator.contract.programs import toolkit_program

NO_EVIDENCE = "no profile evidence: times and verdicts stand, and no counter says why"
# The driver's parameter: 1 where only administrators may count.
ADMIN_ONLY = "RmProfilingAdminOnly"
CAP_SYS_ADMIN, CAP_PERFMON = 21, 38
# The first branch of NVIDIA's driver that takes CAP_PERFMON:
# https://developer.nvidia.com/ERR_NVGPUCTRPERM
PERFMON_DRIVER = (565,)
ON_THE_HOST = (
    "put `options nvidia NVreg_RestrictProfilingToAdminUsers=0` into /etc/modprobe.d/ and load the "
    "driver again"
)
IN_A_CONTAINER = "start the container with --cap-add=SYS_ADMIN, or on its host: "
HIDDEN = "none on this host: it hides its counters; profile on another one"
# A counter of the hardware: times alone are also told where counters are hidden.
COUNTER = "sm__cycles_elapsed.max"
LAUNCH = "import torch; torch.zeros(8, device='{device}').cpu()"
NCU_LIMIT_S = 120.0
DECODER = "librocprof-trace-decoder.so"
# Where people say that the decoder is; rocprofv3 itself looks along LD_LIBRARY_PATH and in ROCm:
# https://github.com/ROCm/rocprof-trace-decoder
DECODER_PATHS = ("ROCPROF_ATT_LIBRARY_PATH", "ROCPROF_TRACE_DECODER_DIR", "LD_LIBRARY_PATH")
PERF = ("perf", "stat", "-x,", "-e", "cycles", "true")
PERF_LIMIT_S = 20.0
REFUSED = re.compile(r"permission|permitted|access to performance", re.IGNORECASE)


def field_of(text: str, name: str) -> str:
    """The value of a line "name: value" in a file of the kernel; "" without such a line."""
    lines = (line.partition(":") for line in text.splitlines())
    return next((value.strip() for key, _, value in lines if key.strip() == name), "")


def nvidia_counters(params: str, status: str, driver: str, *, contained: bool) -> HealthFinding:
    """What the driver's parameters and this process's capabilities allow.

    params: /proc/driver/nvidia/params. status: /proc/self/status. driver: its version. contained:
    whether this is a container; root in one often lacks the capability.
    """
    name, limited = "GPU counters", field_of(params, ADMIN_ONLY)
    held = int(field_of(status, "CapEff") or "0", 16)
    if limited == "0":
        return HealthFinding(name, State.OK, "allowed for every user")
    if limited == "1" and held >> CAP_SYS_ADMIN & 1:
        return HealthFinding(name, State.OK, "allowed for this administrator")
    if limited == "1" and held >> CAP_PERFMON & 1 and at_least(driver, PERFMON_DRIVER):
        return HealthFinding(name, State.OK, "allowed by CAP_PERFMON")
    found = "only for administrators (ERR_NVGPUCTRPERM)" if limited else "the driver does not say"
    remedy = (IN_A_CONTAINER if contained else "") + ON_THE_HOST
    return HealthFinding(name, State.MISSING, found, NO_EVIDENCE, remedy)


def ncu_counters(said: str, *, contained: bool) -> HealthFinding:
    """What ncu said when it was asked for one counter of one launch."""
    name = "GPU counters"
    if re.search(rf"{re.escape(COUNTER)}\D+[\d,.]+", said):
        return HealthFinding(name, State.OK, "ncu counts")
    lines = [line.strip("= ") for line in said.splitlines() if line.startswith("==ERROR==")]
    told = next(iter(lines), "it counted nothing").removeprefix("ERROR== ")
    found, remedy = f"ncu: {told:.120}", "run `ncu` as this user and read what it says"
    if "ERR_NVGPUCTRPERM" in said:
        found = "only for administrators (ncu: ERR_NVGPUCTRPERM)"
        remedy = (IN_A_CONTAINER if contained else "") + ON_THE_HOST
    elif "LibraryNotLoaded" in said:
        found, remedy = "hidden from ncu (LibraryNotLoaded)", HIDDEN
    return HealthFinding(name, State.MISSING, found, NO_EVIDENCE, remedy)


def trace_decoder(environment: Mapping[str, str]) -> HealthFinding:
    """Whether rocprofv3 finds the library that it needs for thread traces."""
    name = "trace decoder of rocprofv3"
    named = (part for key in DECODER_PATHS for part in environment.get(key, "").split(":"))
    places = [*filter(None, named), *(f"{home}/lib" for home in rocm_homes(environment))]
    found = next((path for p in places if (path := Path(p, DECODER)).is_file()), None)
    if found is not None:
        return HealthFinding(name, State.OK, str(found))
    remedy = (
        f"install rocprof-trace-decoder, or put {DECODER} from "
        "https://github.com/ROCm/rocprof-trace-decoder/releases into /opt/rocm/lib"
    )
    return HealthFinding(name, State.MISSING, f"no {DECODER}", "no thread traces (ATT)", remedy)


def cpu_counters(said: str | None, paranoid: str, *, needed: bool) -> HealthFinding:
    """What `perf stat -x, -e cycles true` said; None where perf is not on PATH.

    paranoid: /proc/sys/kernel/perf_event_paranoid; "" without perf events in the kernel. needed:
    whether kernels run on this CPU; on a host with a GPU the lack is only noted.
    """
    level = f"perf_event_paranoid = {paranoid}" if paranoid else "no perf events in this kernel"
    rows = [line.split(",") for line in (said or "").splitlines()]
    value = next((row[0] for row in rows if len(row) > 2 and row[2].startswith("cycles")), "")
    if value.isdecimal():
        return HealthFinding("CPU counters", State.OK, f"perf counts cycles; {level}")
    if said is None:
        found, remedy = "perf is not on PATH", "apt-get install linux-perf"
    elif value == "<not supported>":
        found = "cycles: <not supported>, as on many virtual machines"
        remedy = "none on this machine; profile on one whose hypervisor lets counters through"
    elif REFUSED.search(said):
        found = "perf may not count"
        remedy = "`sysctl kernel.perf_event_paranoid=1`; in a container --cap-add=PERFMON"
    else:
        told = next((line for line in said.splitlines() if line.strip()), "it said nothing")
        found, remedy = f"perf: {value or told:.80}", f"run `{' '.join(PERF)}` and read it"
    state = State.MISSING if needed else State.NOTE
    return HealthFinding("CPU counters", state, f"{found}; {level}", NO_EVIDENCE, remedy)


def ask_perf() -> str | None:
    """What perf says of one event; None where it is not on PATH."""
    if shutil.which(PERF[0]) is None:
        return None
    # perf may be a script that names the package of the running kernel.
    return _said(list(PERF), PERF_LIMIT_S)


def try_ncu(device: Device, *, contained: bool) -> HealthFinding | None:
    """Count one launch on the device; None where ncu or torch cannot, or the device is taken."""
    ncu = toolkit_program("ncu")
    if ncu is None or not torch_has_cuda():
        return None
    program = [sys.executable, "-c", LAUNCH.format(device=device.device)]
    command = [ncu, "--metrics", COUNTER, "--launch-count", "1", *program]
    try:
        with hold(device):
            return ncu_counters(_said(command, NCU_LIMIT_S), contained=contained)
    except DeviceBusy:
        return None


def _said(command: list[str], limit_s: float) -> str:
    """All that a program printed, or why it did not end well."""
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    environment |= {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit_s, env=environment, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"==ERROR== {error!s:.80}"
    return f"{done.stdout}\n{done.stderr}"
