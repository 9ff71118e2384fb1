"""Which devices this host has, and which wiki platform each is (R2). CUDA is never started."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from django.conf import settings

from campaigns.devices import amd
from campaigns.devices.nvml import NvidiaCard, driver_version, visible_cards
from knowledge.curation.turn import turn
from knowledge.lookup.value import platform_for_device
from knowledge.models import Platform
from knowledge.search.index import index_platforms
from knowledge.specs.facts import PlatformFacts, PlatformKind, cpu_platform

CPUINFO = Path("/proc/cpuinfo")
MEMINFO = Path("/proc/meminfo")
# Architectures whose own features (wgmma, tcgen05) compilers only emit under the suffixed name.
SUFFIXED = ("sm_90", "sm_100", "sm_103", "sm_120")
CHOICE = re.compile(r"cpu|cuda:\d+")


class DeviceError(ValueError):
    """This host does not have the requested device; the message lists those it has."""


@dataclass(frozen=True, slots=True)
class Device:
    """One device of this host.

    device: torch's name, "cpu" or "cuda:<index>". name: as the driver or the kernel reports it.
    platform_slug: of a platform made from the name alone; `ensure_platform` knows the real one.
    target: what compilers build for. uuid: names the device on this host, also in its lock file.
    """

    kind: Literal["cpu", "gpu"]
    device: str
    name: str
    platform_slug: str
    target: str
    memory_bytes: int
    uuid: str
    detail: Mapping[str, str] = field(default_factory=dict)


def devices() -> list[Device]:
    """Every device of this host: the visible GPUs in CUDA's order, then the CPU."""
    cards = visible_cards()
    driver = driver_version() if cards else ""
    found = []
    for place, card in enumerate(cards):
        capability = ".".join(map(str, card.capability))
        detail = {"driver": driver, "compute capability": capability, "PCI bus": card.pci_bus}
        found.append(_gpu(f"cuda:{place}", card, compiler_target(card.capability), detail))
    facts = cpu_platform(CPUINFO.read_text(), platform.machine())
    memory = re.search(r"^MemTotal:\s*(\d+) kB$", MEMINFO.read_text(), re.MULTILINE)
    memory_bytes = int(memory[1]) * 1024 if memory else 0
    usable = f"{len(os.sched_getaffinity(0))} of {os.cpu_count()}"
    detail = {"CPUs usable": usable, "kernel": platform.release()}
    slug = facts.slug
    cpu = Device("cpu", "cpu", facts.name, slug, facts.target, memory_bytes, slug, detail)
    return [*found, cpu]


def watched() -> list[Device]:
    """AMD's cards: listed and checked like others; no backend measures on them yet."""
    return [
        _gpu(f"amd:{card.place}", card, card.target, {"PCI bus": card.pci_bus})
        for card in amd.cards()
    ]


def this_device(choice: str | None = None) -> Device:
    """The device that this host measures on: the first GPU that torch can use, else the CPU.

    `choice`, or else KOPT_DEVICE, names another ("cpu", "cuda:1"). Raises DeviceError.
    """
    wanted = choice
    if not wanted:
        wanted = str(settings.KOPT_DEVICE)
        if wanted and not CHOICE.fullmatch(wanted):
            raise DeviceError(f"KOPT_DEVICE='{wanted}': accepted are cpu, cuda:0, cuda:1, …")
    found = devices()
    if not wanted:
        return next(d for d in found if d.kind == "cpu" or torch_has_cuda())
    named = next((device for device in found if device.device == wanted), None)
    if named is None:
        accepted = ", ".join(device.device for device in found)
        raise DeviceError(f"device '{wanted}': accepted on this host: {accepted}")
    return named


def alike(device: Device) -> list[Device]:
    """The devices of this host of the same model, itself among them."""
    return [other for other in devices() if (other.kind, other.name) == (device.kind, device.name)]


def ensure_platform(device: Device) -> Platform:
    """The platform with exactly this device's name among its aliases, made without specs if new.

    Names are compared whole: an H200 never answers for an H100.
    """
    if (found := platform_for_device(device.name)) is not None:
        return found
    with turn():  # an import may bring this driver name in just now
        if (found := platform_for_device(device.name)) is not None:
            return found
        facts = platform_facts(device)
        made, is_new = Platform.objects.get_or_create(
            slug=facts.slug,
            defaults={
                "name": facts.name,
                "vendor": facts.vendor,
                "arch": facts.arch,
                "kind": facts.kind.value,
                "target": facts.target,
                "aliases": list(facts.aliases),
            },
        )
        index_platforms([made] * is_new)
        return made


def platform_facts(device: Device) -> PlatformFacts:
    """What is known of a device's platform from the device alone."""
    if device.kind == "cpu":
        return cpu_platform(CPUINFO.read_text(), platform.machine())
    return PlatformFacts(
        slug=device.platform_slug,
        name=device.name,
        vendor="NVIDIA",
        arch=device.target,
        kind=PlatformKind.GPU,
        target=device.target,
        aliases=(device.name,),
    )


def compiler_target(capability: tuple[int, int]) -> str:
    """(8, 0) → "sm_80", (9, 0) → "sm_90a"."""
    plain = f"sm_{capability[0]}{capability[1]}"
    return f"{plain}a" if plain in SUFFIXED else plain


def torch_has_cuda() -> bool:
    """Whether the installed torch was built for CUDA; torch itself is not imported."""
    return bool(torch_cuda())


def torch_cuda() -> str:
    """The CUDA that the installed torch was built for; "" for none. torch is not imported."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return ""
    version = Path(spec.origin).with_name("version.py")
    text = version.read_text() if version.is_file() else ""
    found = re.search(r"^cuda(?:\s*:[^=]*)?\s*=\s*['\"]([^'\"]+)", text, re.MULTILINE)
    return found[1] if found else ""


def _gpu(
    device: str, card: NvidiaCard | amd.AmdCard, target: str, detail: Mapping[str, str]
) -> Device:
    slug = re.sub(r"[^a-z0-9]+", "-", card.name.lower()).strip("-")
    return Device("gpu", device, card.name, slug, target, card.memory_bytes, card.uuid, detail)
