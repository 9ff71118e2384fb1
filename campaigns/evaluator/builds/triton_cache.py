"""Triton's cache of compiled kernels, handed from the process that builds to one that runs."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from campaigns.evaluator.builds.resource_use import facts_from_listing
from campaigns.evaluator.builds.toolkit import toolkit_program
from campaigns.evaluator.contract import BuildFacts

CACHE_FILE = "triton-cache.tar"
CUOBJDUMP = "cuobjdump"


def packed(cache: Path) -> bytes:
    """A folder as an archive."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        archive.add(cache, ".")
    return data.getvalue()


def unpack(fd: int, cache: Path) -> None:
    """Add an archive's files to a folder. Raises OSError, tarfile.TarError."""
    cache.mkdir(exist_ok=True)
    with os.fdopen(os.dup(fd), "rb") as file, tarfile.open(fileobj=file) as archive:
        archive.extractall(cache, filter="data")


def facts_of(compiled: Sequence[Any], folder: Path) -> BuildFacts:
    """What the CUDA toolkit lists of the kernels; no more than shared memory without it."""
    listing = ""
    for cubin in dict.fromkeys(one.asm["cubin"] for one in compiled if "cubin" in one.asm):
        file = folder / "kernel.cubin"
        file.write_bytes(cubin)
        command = [disassembler(), "--dump-resource-usage", file.name]
        with contextlib.suppress(OSError):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            listing += done.stdout
    return facts_from_listing(listing, [one.metadata.shared for one in compiled])


def disassembler() -> str:
    """cuobjdump as Triton brings it, or the CUDA toolkit's."""
    import triton

    brought = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
    found = shutil.which(CUOBJDUMP, path=str(brought)) or toolkit_program(CUOBJDUMP)
    return found or CUOBJDUMP
