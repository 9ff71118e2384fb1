"""What `doctor` checks on a host: services, permissions, the layers of the sandbox."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any

import django.db
from celery import current_app
from django.conf import settings
from django.db import connection
from kombu.exceptions import OperationalError

from campaigns.devices import nvml
from campaigns.devices.discover import Device, devices, torch_cuda, watched
from campaigns.devices.host_profilers import (
    ADMIN_ONLY,
    ask_perf,
    cpu_counters,
    field_of,
    nvidia_counters,
    trace_decoder,
    try_ncu,
)
from campaigns.devices.host_software import (
    COSTS,
    HealthFinding,
    State,
    at_least,
    examine_packages,
    examine_programs,
    examine_sanitizers,
    rocm_homes,
    version_numbers,
)
from campaigns.devices.launch import InterpreterFailed, ask_interpreter
from campaigns.devices.nvml import visible_cards
from campaigns.evaluator.contract.programs import COMPUTE_SANITIZER
from campaigns.evaluator.contract.sandbox import CardNode, Layer, describe, wanted, words
from knowledge.lookup.database import REMEDY, missing_migrations

GIB = 2**30
DISK_BYTES = GIB
# Two runners of a CPU comparison share up to 1 GiB of buffers each with the judge.
SHARED_BYTES = 2 * GIB
SHARED = Path("/dev/shm")
BROKER_WAIT_S = 3
PROC = Path("/proc")
SYS = Path("/sys")
# In the folder of ROCm.
ROCM_VERSION = ".info/version"
SANDBOX_LIMIT_S = 60.0


class HealthSection(StrEnum):
    """What a check belongs to; the order is that of `env_check.md`."""

    REQUIREMENTS = "Requirements"
    GPU = "GPU"
    TOOLS = "Tools"
    PERMISSIONS = "Permissions"
    CLOCKS = "Clocks"


def examine() -> dict[HealthSection, list[HealthFinding]]:
    """Check this host; changes nothing, takes seconds. Where ncu is, one launch runs under it."""
    found = devices()
    has_gpu, amd = any(device.kind == "gpu" for device in found), watched()
    return {
        HealthSection.REQUIREMENTS: [*examine_packages(has_gpu=has_gpu), *examine_services()],
        HealthSection.GPU: examine_devices(found, amd),
        HealthSection.TOOLS: [
            *examine_programs(has_gpu=has_gpu, has_amd=bool(amd)),
            *examine_sanitizers(has_gpu=has_gpu),
        ],
        HealthSection.PERMISSIONS: [*examine_permissions(found, amd), *examine_sandbox(found)],
        HealthSection.CLOCKS: examine_clocks(found),
    }


def examine_devices(found: list[Device], amd: list[Device]) -> list[HealthFinding]:
    """Every device, and whether driver, toolkit and torch go together. amd: listed only."""
    rows = []
    for device in found:
        size = f"{device.name}, {device.memory_bytes / GIB:.0f} GiB, {device.target}"
        detail = ", ".join(f"{key} {value}" for key, value in device.detail.items())
        rows.append(HealthFinding(f"device {device.device}", State.OK, f"{size}, {detail}"))
    if any(device.kind == "gpu" for device in found):
        rows.append(cuda_match(nvml.cuda_version(), torch_cuda()))
    for device in amd:
        size = f"{device.memory_bytes / GIB:.0f} GiB, {device.target or 'no target'}"
        words = f"{device.name}, {size}: listed only; no backend measures on it yet"
        rows.append(HealthFinding(f"device {device.device}", State.NOTE, words))
    if amd:
        told = (_text(Path(home, ROCM_VERSION)) for home in rocm_homes(os.environ))
        words = next(filter(None, told), "its version is not told")
        rows.append(HealthFinding("ROCm", State.NOTE, words))
    return rows


def cuda_match(driver_takes: str, torch_built_for: str) -> HealthFinding:
    """Whether torch can use the driver: the highest CUDA of the one, the CUDA of the other.

    Within one major version a newer minor one works; "" is unknown.
    """
    if not torch_built_for:
        words = "the installed torch was built without CUDA"
        remedy = "install a CUDA build of torch: https://pytorch.org/get-started/locally"
        return HealthFinding("CUDA", State.MISSING, words, "the GPU is not used", remedy)
    words = f"torch is built for {torch_built_for}, the driver takes {driver_takes or 'unknown'}"
    if driver_takes and not at_least(driver_takes, version_numbers(torch_built_for)[:1]):
        remedy = "install a newer driver, or a torch for this CUDA"
        return HealthFinding("CUDA", State.MISSING, words, "the GPU is not used", remedy)
    return HealthFinding("CUDA", State.OK, words)


def examine_services() -> list[HealthFinding]:
    """Database, broker, disk and shared memory."""
    free = shutil.disk_usage(settings.DATA_DIR).free
    disk = HealthFinding(
        "disk",
        State.OK if free >= DISK_BYTES else State.REQUIRED,
        f"{free / GIB:.1f} GiB free in {settings.DATA_DIR}",
        "evaluations end as broken_host",
        "free 1 GiB or more",
    )
    total = shutil.disk_usage(SHARED).total if SHARED.is_dir() else 0
    words = f"{total / GIB:.1f} GiB in {SHARED}" if SHARED.is_dir() else "none"
    shared = HealthFinding("shared memory", State.OK, words)
    if total < SHARED_BYTES:
        costs = "fewer slots in a burst on the CPU, so wider intervals"
        remedy = "mount a larger tmpfs; in Docker: --shm-size=2g"
        shared = HealthFinding("shared memory", State.MISSING, words, costs, remedy)
    return [_database(), _broker(), disk, shared]


def _database() -> HealthFinding:
    costs, remedy = "nothing is stored", f"check DATABASE_URL, then {REMEDY}"
    try:
        connection.ensure_connection()
        waiting = missing_migrations()
    except django.db.Error as error:
        said = str(error).strip().partition("\n")[0]
        found = f"{connection.vendor}: {said}"
        return HealthFinding("database", State.REQUIRED, found, costs, remedy)
    if waiting:
        found = f"{connection.vendor}: {len(waiting)} migrations to do"
        return HealthFinding("database", State.MISSING, found, costs, REMEDY)
    return HealthFinding("database", State.OK, connection.vendor)


def _broker() -> HealthFinding:
    try:
        with current_app.connection_for_write() as link:
            link.ensure_connection(max_retries=1, timeout=BROKER_WAIT_S)
            name = str(link.transport.driver_type)
    # kombu raises KeyError for a scheme that it does not know.
    except (OSError, OperationalError, KeyError) as error:
        said = str(error).strip("'").partition("\n")[0]
        remedy = "check KOPT_BROKER_URL, or unset it for the embedded queue"
        return HealthFinding("broker", State.REQUIRED, said, "no campaign runs", remedy)
    return HealthFinding("broker", State.OK, name)


def examine_permissions(found: list[Device], amd: list[Device]) -> list[HealthFinding]:
    """Who may read the counters of GPUs and CPU; without them there is no profile evidence."""
    rows = []
    first = next((device for device in found if device.kind == "gpu"), None)
    if first is not None:
        params = _text(PROC / "driver/nvidia/params")
        allowed = nvidia_counters(params)
        # What is allowed by the driver may be hidden all the same, and its parameters may be, too.
        is_refused = allowed.state is State.MISSING and bool(field_of(params, ADMIN_ONLY))
        tried = None if is_refused else try_ncu(first)
        rows.append(tried or allowed)
    if amd:
        rows.append(trace_decoder(os.environ))
    paranoid = _text(PROC / "sys/kernel/perf_event_paranoid")
    return [*rows, cpu_counters(ask_perf(), paranoid, needed=first is None)]


def examine_clocks(found: list[Device]) -> list[HealthFinding]:
    """The clock of every device and what bounds it; a lock is recorded, never needed."""
    rows = []
    governor = _text(SYS / "devices/system/cpu/cpu0/cpufreq/scaling_governor")
    for device in found:
        if device.kind == "gpu":
            mhz = nvml.clock_mhz(device.uuid)
            words = f"{mhz} MHz now" if mhz is not None else "the driver does not say"
            words += f"; policy: {nvml.clock_policy(device.uuid)}"
        else:
            words = f"governor {governor}" if governor else "fixed or hidden by the hypervisor"
        rows.append(HealthFinding(f"clock of {device.device}", State.NOTE, words))
    return rows


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def examine_sandbox(devices: list[Device]) -> list[HealthFinding]:
    """What holds for each kind of device, each layer that is missing, and how memory is bounded."""
    kinds = sorted({"cuda" if device.kind == "gpu" else "cpu" for device in devices})
    try:
        said = ask_interpreter(["-m", "campaigns.evaluator.sandbox", *kinds], SANDBOX_LIMIT_S)
    except (InterpreterFailed, subprocess.TimeoutExpired) as error:
        remedy = "run `python -m campaigns.evaluator.sandbox cpu` and read its output"
        costs = "no evaluation starts"
        return [HealthFinding("sandbox", State.REQUIRED, str(error), costs, remedy)]
    layers = [_layers_of(kind, found) for kind, found in json.loads(said).items()]
    return [*chain(*layers), *_other_cards()]


def _lacking() -> State:
    """What it means that something of the sandbox is missing."""
    return State.REQUIRED if settings.KOPT_SANDBOX == "ALL" else State.MISSING


def _layers_of(kind: str, found: dict[str, Any]) -> list[HealthFinding]:
    """required: with KOPT_SANDBOX=all a missing layer stops all work on this kind of device."""
    lacking, root = _lacking(), found["root"]
    holds = {Layer(name): detail for name, detail in found["holds"].items()}
    by = "a control group" if found["memory_by"] == "control group" else "watching it"
    bounds = f"{describe(holds) or 'nothing'}; memory {found['memory_mib']:,} MiB, kept by {by}"
    costs, remedy = "candidates run with the worker's rights", "see the layers below"
    state = State.OK if holds else lacking
    listed = [HealthFinding(f"sandbox, {kind}", state, bounds, costs, remedy)]
    for layer, why in ((Layer(name), why) for name, why in found["lacks"].items()):
        state = lacking if layer in wanted(root=root) else State.NOTE
        said = words(layer, kind, root=root)
        name = f"sandbox, {kind}: {layer}"
        listed.append(HealthFinding(name, state, why, said.costs, said.remedy))
    if why := found["no_watching"]:
        name, remedy = f"sandbox, {kind}: sanitizers", "see the layers that are missing"
        listed.append(HealthFinding(name, State.MISSING, why, COSTS[COMPUTE_SANITIZER], remedy))
    return listed


def _other_cards() -> list[HealthFinding]:
    """Whether a runner on one of several GPUs can open the others."""
    cards = [CardNode(card.uuid, card.minor) for card in visible_cards()]
    if len(cards) < 2:
        return []
    name, open_ones = "sandbox, cuda: other cards", [card for card in cards if card.node is None]
    if not open_ones:
        found = f"a runner can open its own card only; cards here: {len(cards)}"
        return [HealthFinding(name, State.OK, found)]
    found = f"the driver names no device node for {', '.join(c.uuid for c in open_ones)}"
    costs = "a candidate can open other cards and disturb what is measured there"
    remedy = "give this container the nodes under the numbers that `nvidia-smi -q` lists as minor"
    return [HealthFinding(name, _lacking(), found, costs, remedy)]
