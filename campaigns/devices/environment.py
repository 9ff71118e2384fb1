"""What a measurement ran with: driver, clocks, compiler, torch, and the code of kopt that measures.

Two measurements of one kernel are compared by these (`campaigns.rules.noise.series`).
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from functools import cache
from importlib import metadata

from django.conf import settings

from campaigns.devices.discover import Device
from campaigns.devices.passport import host_facts
from campaigns.evaluator.contract.errors import Unsupported
from campaigns.evaluator.contract.programs import cpp_compiler, nvcc, version_line

# What builds the kernels of a backend as an installed package; the others have a program.
PACKAGES = {"triton": "triton", "torch": "torch"}
PROGRAMS = {"cpp": cpp_compiler, "cuda": nvcc}
SHOWN_DIGITS = 8


def environment_of(device: Device, backend: str) -> dict[str, str]:
    """Name → version or state, read now and worded as the evaluator words it; "" is unknown."""
    facts = host_facts(device)
    return {
        "driver": facts.get("driver", ""),
        "clock policy": facts.get("clock policy", ""),
        "compiler": compiler_of(backend),
        "torch": _package("torch"),
        "kopt": kopt_version(),
    }


def compiler_of(backend: str) -> str:
    """The compiler of a backend with its version; "" where this host has none."""
    if backend in PACKAGES:
        name = PACKAGES[backend]
        return f"{name} {version}" if (version := _package(name)) else ""
    try:
        program = PROGRAMS[backend]()
        return _line_of(program, os.stat(program).st_mtime_ns)
    except (KeyError, Unsupported, OSError):
        return ""


@cache
def _line_of(program: str, changed_ns: int) -> str:
    """changed_ns: when the program was written, so that a new one is asked anew."""
    return version_line(program)


@cache
def kopt_version() -> str:
    """The version, and a digest of the code that measures: most changes of kopt touch no number."""
    folder = settings.BASE_DIR / "campaigns" / "evaluator"
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        found.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    about = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())
    version = about.get("project", {}).get("version", "")
    return f"{version} (measuring code {found.hexdigest()[:SHOWN_DIGITS]})".strip()


def _package(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
