"""A report of Nsight Compute (.ncu-rep) as the table that ncu prints of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from campaigns.evaluator.contract.programs import NCU, NCU_TABLE, headline, toolkit_program
from campaigns.profiles.kernel_profile import ProfileError

ENDING, MAGIC = ".ncu-rep", b"NVR\0"
LIMIT_S = 120.0


def is_report(name: str, head: bytes) -> bool:
    """By the file's ending or its first bytes."""
    return name.endswith(ENDING) or head.startswith(MAGIC)


def imported(path: Path) -> str:
    """The launches of a report as CSV. Raises ProfileError, also where this host has no ncu."""
    name, command = path.name, f"`ncu --import {path.name} {' '.join(NCU_TABLE)}`"
    ncu = toolkit_program(NCU)
    if ncu is None:
        words = "a report of Nsight Compute, and ncu is not on this host"
        raise ProfileError(name, 1, f"{words}; accepted: what {command} prints on one that has it")
    try:
        done = subprocess.run(
            [ncu, "--import", str(path.resolve()), *NCU_TABLE],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProfileError(name, 1, f"ncu does not read it: {error}") from None
    if done.returncode or "==ERROR==" in done.stdout:
        said = headline(f"{done.stdout}\n{done.stderr}")
        accepted = "a whole report of this host's Nsight Compute or an older one"
        raise ProfileError(name, 1, f"ncu does not read it: {said}; accepted: {accepted}")
    return done.stdout
