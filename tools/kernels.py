"""Decide where torch and triton come from: this host, a CPU build or the CUDA build.

The CUDA build is never downloaded by accident, and torch is never left out by accident.
"""

from __future__ import annotations

import enum
import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

TORCH_FLOOR = (2, 6)
TRITON_FLOOR = (3, 2)
PUBLIC_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
PACKAGES = ("torch", "triton")

# The python outside .venv runs this. It prints its versions and does not touch a device.
HOST_PROBE = """
import json, sys
import torch
try:
    import triton
except ImportError:
    triton = None
folders = [p for p in sys.path if p.endswith(("site-packages", "dist-packages"))]
print(json.dumps([torch.__version__, triton and triton.__version__, folders]))
"""


class Kernels(enum.Enum):
    """The accepted values of the variable KERNELS."""

    AUTO = "auto"
    OWN = "own"
    CPU = "cpu"
    CUDA = "cuda"
    NONE = "none"


class SetupError(Exception):
    """The environment cannot be made; the message says what to do."""


class HostTorch(NamedTuple):
    """The torch of the python outside .venv, and the folders it is imported from."""

    torch: str
    triton: str | None
    folders: tuple[str, ...]


class KernelChoice(NamedTuple):
    """The decision: arguments for pip, what to tell the user before, the host torch if used."""

    arguments: tuple[str, ...]
    notice: str
    host: HostTorch | None = None


class Machine(NamedTuple):
    """The two pythons to ask (outside .venv, inside it) and the pinned torch and triton lines."""

    host_python: str
    venv_python: str
    pins: Mapping[str, str]


def choose(wanted: Kernels, machine: Machine) -> KernelChoice:
    """Return where torch comes from. Raises SetupError when `wanted` is not available."""
    if wanted is Kernels.NONE:
        return KernelChoice((), "no torch here (KERNELS=none): kernels run on workers elsewhere")
    if wanted in (Kernels.AUTO, Kernels.OWN):
        host, complaint = _host_torch(machine.host_python)
        if host:
            return _own(host, machine.pins["triton"])
        if wanted is Kernels.OWN:
            raise SetupError(f"KERNELS=own: {complaint}")
    if wanted is Kernels.CUDA:
        return _cuda(machine.pins, "KERNELS=cuda")
    if wanted is Kernels.AUTO and has_nvidia_card():
        return _cuda(machine.pins, "an NVIDIA card is here")
    build, triton = machine.pins["torch"] + "+cpu", machine.pins["triton"]
    notice = (
        "installing the CPU build of torch (200 MB to fetch) and triton (200 MB), 1.5 GB on disk"
    )
    if _is_offered(machine.venv_python, build):
        return KernelChoice((build, triton), notice)
    if _is_offered(machine.venv_python, build, "--index-url", PUBLIC_CPU_INDEX):
        arguments = ("--extra-index-url", PUBLIC_CPU_INDEX, build, triton)
        return KernelChoice(arguments, f"{notice}, from {PUBLIC_CPU_INDEX}")
    missing = f"neither pip's index nor {PUBLIC_CPU_INDEX} has {build}"
    if wanted is Kernels.CPU:
        raise SetupError(f"KERNELS=cpu: {missing}")
    return _cuda(machine.pins, f"{missing} (KERNELS=none leaves torch out of a web-only host)")


def _host_torch(python: str) -> tuple[HostTorch | None, str]:
    """Return the host's torch, or None and why it cannot be used."""
    command = [python, "-W", "ignore", "-c", HOST_PROBE]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    if done.returncode != 0:
        return None, f"{python} cannot import torch"
    torch, triton, folders = json.loads(done.stdout.splitlines()[-1])
    for name, found, floor in (("torch", torch, TORCH_FLOOR), ("triton", triton, TRITON_FLOOR)):
        if found and tuple(map(int, re.findall(r"\d+", found)[:2])) < floor:
            least = ".".join(map(str, floor))
            return None, f"{name} {found} of {python} is older than {least}"
    return HostTorch(torch, triton, tuple(folders)), ""


def _own(host: HostTorch, triton: str) -> KernelChoice:
    notice = f"using this host's own torch {host.torch}"
    if host.triton:
        return KernelChoice((), f"{notice} and triton {host.triton}", host)
    return KernelChoice((triton,), f"{notice}; triton, which it lacks, is 200 MB to fetch", host)


def _cuda(pins: Mapping[str, str], why: str) -> KernelChoice:
    # Three equal signs leave out a local CPU build, which would otherwise count as the newer one.
    exact = pins["torch"].replace("==", "===")
    notice = f"{why}: installing torch with CUDA and triton, about 3 GB to fetch, 5.5 GB on disk"
    return KernelChoice((exact, pins["triton"]), notice)


def _is_offered(python: str, pinned: str, *index: str) -> bool:
    """Ask the index for its list of versions, which fetches no wheel (a dry run may)."""
    name, version = pinned.split("==")
    limits = ("--timeout", "15", "--retries", "1", "--disable-pip-version-check")
    command = [python, "-m", "pip", "index", "versions", name, *index, *limits]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    listed = re.search(r"^Available versions: (.*)$", done.stdout, re.MULTILINE)
    return listed is not None and version in listed[1].split(", ")


def has_nvidia_card() -> bool:
    if Path("/dev/nvidia0").exists():
        return True
    smi = shutil.which("nvidia-smi")
    if smi is None:
        return False
    done = subprocess.run([smi, "--list-gpus"], capture_output=True, text=True, check=False)
    return done.returncode == 0 and "GPU " in done.stdout
