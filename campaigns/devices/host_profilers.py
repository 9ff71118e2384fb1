"""Whether the profilers of this host may count: GPU counters, thread traces, CPU counters (R7).

A refusal is never a fault of the host: then there is no profile evidence, and times stand. Readers
are pure and take what a file or a program says.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from campaigns.devices.discover import Device, torch_has_cuda
from campaigns.devices.explain import count_kernels
from campaigns.devices.hold import DeviceBusy, hold
from campaigns.devices.host_software import HealthFinding, State, rocm_homes
from campaigns.devices.launch import EvaluatorService, clean_environment
from campaigns.devices.passport import v0_job
from campaigns.evaluator.contract import Profile, Protocol
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.evaluator.contract.programs import NCU, toolkit_program
from campaigns.problems.shipped import problem_folder

GPU_COUNTERS = "GPU counters"
NO_EVIDENCE = "no profile evidence: times and verdicts stand, and no counter says why"
# The driver's parameter: 1 where only administrators may count.
ADMIN_ONLY = "RmProfilingAdminOnly"
ON_THE_HOST = (
    "put `options nvidia NVreg_RestrictProfilingToAdminUsers=0` into /etc/modprobe.d/ and load the "
    "driver again"
)
HIDDEN = "none on this host: it hides its counters; profile on another one"
# The smallest that is shipped: what counts it counts a candidate.
TRIED = "vector_add"
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


def nvidia_counters(params: str) -> HealthFinding:
    """What the driver allows those who are no administrators: a kernel runs as nobody else.

    params: /proc/driver/nvidia/params.
    """
    limited = field_of(params, ADMIN_ONLY)
    if limited == "0":
        return HealthFinding(GPU_COUNTERS, State.OK, "allowed for every user")
    found = "only for administrators (ERR_NVGPUCTRPERM)" if limited else "the driver does not say"
    return HealthFinding(GPU_COUNTERS, State.MISSING, found, NO_EVIDENCE, ON_THE_HOST)


def ncu_counters(counted: Profile) -> HealthFinding:
    """What came of counting a kernel in the box in which candidates run."""
    if counted.text:
        return HealthFinding(GPU_COUNTERS, State.OK, "ncu counts where kernels run")
    remedy = "run `ncu` as another user than root and read what it says"
    if "ERR_NVGPUCTRPERM" in counted.note:
        remedy = ON_THE_HOST
    elif "LibraryNotLoaded" in counted.note:
        remedy = HIDDEN
    return HealthFinding(GPU_COUNTERS, State.MISSING, counted.note[:160], NO_EVIDENCE, remedy)


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
    environment = clean_environment() | {"LC_ALL": "C"}
    try:
        # perf may be a script that names the package of the running kernel.
        done = subprocess.run(
            [*PERF],
            capture_output=True,
            text=True,
            timeout=PERF_LIMIT_S,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{error!s:.80}"
    return f"{done.stdout}\n{done.stderr}"


def try_ncu(device: Device) -> HealthFinding | None:
    """Count a kernel as a candidate's is; None where nothing can, or the device is taken."""
    if toolkit_program(NCU) is None or not torch_has_cuda():
        return None
    backend = "cuda" if toolkit_program("nvcc") else "triton"
    spec = load_problem(problem_folder(TRIED))
    try:
        with hold(device), TemporaryDirectory() as folder, EvaluatorService() as service:
            job = v0_job(device, spec, backend, Path(folder, "scratch"), Protocol())
            counted = count_kernels(job, None, service)
    except DeviceBusy:
        return None
    except OSError as error:
        counted = Profile(NCU, "", note=f"the evaluator does not start: {error}")
    return ncu_counters(counted) if counted else None
