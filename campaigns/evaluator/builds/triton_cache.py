"""Triton's cache of compiled kernels, handed from the process that builds to one that runs."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from campaigns.evaluator.builds.compile import facts_from_listing
from campaigns.evaluator.contract.programs import toolkit_program
from campaigns.evaluator.contract.stream import BuildFacts

CACHE_FILE = "triton-cache.tar"
CUOBJDUMP, NVDISASM = "cuobjdump", "nvdisasm"
# How the name of a file begins that lists what belongs together.
GROUP = "__grp__"
# What a first compilation imports.
IMPORTED = ("triton.compiler", "triton.experimental.gluon", "triton.runtime.cache")


def warm_up(target: str) -> None:
    """Do once what each process that compiles would do anew: half a second of imports and hashes.

    target: "sm_90a", say. Nothing of LLVM's is begun, which a fork would not survive.
    """
    for name in IMPORTED:
        importlib.import_module(name)
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend
    from triton.runtime import cache

    cache.triton_key()
    if target.startswith("sm_"):
        arch = int("".join(c for c in target if c.isdigit()))
        make_backend(GPUTarget("cuda", arch, 32)).hash()


def warm_driver(device: str) -> None:
    """The same of a process that launches on `device`, which it has started.

    What fails does so again.
    """
    with contextlib.suppress(Exception):
        warm_up("")
        from triton.runtime import driver

        # Asks a C compiler for the library that launches, unless the host has it already.
        driver.active.utils  # noqa: B018


def packed(cache: Path) -> bytes:
    """A folder as an archive."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        archive.add(cache, ".")
    return data.getvalue()


def unpack(fd: int, cache: Path) -> None:
    """Add an archive's files to a folder. Raises OSError, tarfile.TarError."""
    cache.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.dup(fd), "rb") as file, tarfile.open(fileobj=file) as archive:
        files = []
        for member in filter(tarfile.TarInfo.isfile, archive):
            # By hand: Python has a filter of what leaves the folder since 3.11.4.
            name = os.path.normpath(member.name)
            data = archive.extractfile(member)
            if data is None or os.path.isabs(name) or name.startswith(".."):
                raise tarfile.TarError(f"{member.name!r}: accepted: files of the folder")
            files.append(cache / name)
            files[-1].parent.mkdir(parents=True, exist_ok=True)
            files[-1].write_bytes(data.read())
    for group in (file for file in files if file.name.startswith(GROUP)):
        # It names its members by where they were built, and Triton takes none that is not there.
        members = json.loads(group.read_text())["child_paths"]
        here = {name: str(group.parent / name) for name in members}
        group.write_text(json.dumps({"child_paths": here}))


def facts_of(compiled: Sequence[Any], folder: Path) -> BuildFacts:
    """What the CUDA toolkit lists of the kernels; no more than shared memory without it."""
    listing = ""
    for cubin in dict.fromkeys(one.asm["cubin"] for one in compiled if "cubin" in one.asm):
        file = folder / "kernel.cubin"
        file.write_bytes(cubin)
        command = [brought_program(CUOBJDUMP), "--dump-resource-usage", file.name]
        with contextlib.suppress(OSError):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            listing += done.stdout
    return facts_from_listing(listing, [one.metadata.shared for one in compiled])


def brought_program(name: str) -> str:
    """A program of the CUDA toolkit as Triton brings it, or the toolkit's own."""
    triton = importlib.util.find_spec("triton")
    brought = Path((triton and triton.origin) or "").parent / "backends" / "nvidia" / "bin"
    found = shutil.which(name, path=str(brought)) or toolkit_program(name)
    return found or name
