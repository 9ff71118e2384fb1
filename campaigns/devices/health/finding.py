"""The result of one check, and versions compared as numbers (R7)."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """What one check found."""

    OK = "ok"
    NOTE = "note"  # a fact that neither helps nor hurts
    MISSING = "missing"  # something works less well
    REQUIRED = "required"  # kopt does not work without it


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """found: version or fact. costs, remedy: what lacks without it and how to get it."""

    name: str
    state: State
    found: str
    costs: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        line = f"{self.state:8} {self.name}: {self.found}"
        if self.state in (State.OK, State.NOTE):
            return line
        return f"{line}\n         costs: {self.costs}\n         get it: {self.remedy}"


def version_numbers(text: str) -> tuple[int, ...]:
    """The first dotted version in a text as numbers: "g++ (Debian) 12.2.0" → (12, 2, 0)."""
    found = re.search(r"\d+(?:\.\d+)+", text) or re.search(r"\d+", text)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def at_least(text: str, least: tuple[int, ...]) -> bool:
    """Whether the version in `text` is `least` or newer; numbers are compared, so 2.13 > 2.6."""
    return version_numbers(text) >= least


def said_by(program: str, *arguments: str) -> str | None:
    """The line of a program's answer that holds its version; None where it is not on PATH."""
    path = shutil.which(program)
    if path is None:
        return None
    try:
        done = subprocess.run(
            [path, *arguments], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not run: {error!s:.80}"
    lines = [line.strip() for line in (done.stdout or done.stderr).splitlines() if line.strip()]
    versioned = [line for line in lines if re.search(r"\d+\.\d+", line)]
    release = [line for line in versioned if re.search(r"release|version", line, re.IGNORECASE)]
    return (release or versioned or lines or ["it said nothing"])[0]
