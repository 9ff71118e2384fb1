"""Run a compiler, locked down, and keep what it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable

from campaigns.evaluator.contract import BuildFacts
from campaigns.evaluator.contract.errors import BuildFailed, Unsupported
from campaigns.evaluator.contract.source import TUNING, is_tuning
from campaigns.evaluator.sandbox.workplace import Ended, Workplace

LAST_WORDS = 300
# GCC's, nvcc's and Clang's drivers, of a part that SIGKILL has ended.
_KILLED_PART = re.compile(
    r"fatal error: Killed signal terminated program"
    r"|died due to signal 9\b"
    r"|unable to execute command: Killed"
)
LONGEST = 300
# From the most to the least telling. The compiler's driver only repeats that the linker failed.
TELLING = (
    re.compile(r" error: (?!ld returned|linker command failed)(?=.*\w)"),
    re.compile(r"undefined reference|undefined symbol|cannot find"),
    re.compile(r"^[\w.]*Error\b"),
    re.compile("error", re.IGNORECASE),
)
# Of `ptxas -v`, a line each; see "ptxas options" in the manual of nvcc.
STACK = re.compile(r"(\d+) bytes stack frame")
SPILLS = re.compile(r"(\d+) bytes spill stores")
REGISTERS = re.compile(r"Used (\d+) registers")
SHARED = re.compile(r"(\d+) bytes smem")
# Of `cuobjdump --dump-resource-usage`.
LISTED = {
    "registers": re.compile(r"\bREG:(\d+)"),
    "stack_bytes": re.compile(r"\bSTACK:(\d+)"),
    "shared_bytes": re.compile(r"\bSHARED:(\d+)"),
    "spill_bytes": re.compile(r"\bLOCAL:(\d+)"),
}


def version_line(program: str) -> str:
    """The line of its `--version` that names a release; "" where it does not answer.

    program: a trusted one, by its path; it runs outside the sandbox.
    """
    try:
        said = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    lines = [line.strip() for line in said.stdout.splitlines() if re.search(r"\d+\.\d+", line)]
    return next((line for line in lines if "release" in line), lines[0] if lines else "")


def check_flags(flags: tuple[str, ...]) -> None:
    """Raises BuildFailed naming the first flag that is not accepted."""
    for flag in flags:
        if not is_tuning(flag):
            raise BuildFailed(f"flags: {flag!r} is not accepted; accepted are {TUNING}")


def compile_or_fail(command: list[str], place: Workplace) -> str:
    """Run a compiler, locked down; its log.

    One that is killed from outside, as by a host without memory, is run once more. Raises
    BuildFailed; Unsupported without a compiler, or where it is killed again.
    """
    for again in (False, True):
        try:
            ended = place.run(command)
        except FileNotFoundError:
            raise Unsupported(f"{command[0]} is not on this host") from None
        except subprocess.SubprocessError as error:
            raise Unsupported(f"the compiler could not be locked down: {error}") from None
        log = f"$ {' '.join(command)}\n{ended.log}"
        place.keep_log(log)
        if not ended.status:
            return log
        if not _killed(ended):
            raise BuildFailed(log)
        if again:
            break
    raise Unsupported(f"{command[0]} was killed twice, which no source makes happen")


def _killed(ended: Ended) -> bool:
    """Whether somebody killed the compiler, or a part of it of which its driver tells last.

    A source could print the same words; all that they win is a measurement that is void.
    """
    part = not ended.stopped and _KILLED_PART.search(ended.log[-LAST_WORDS:])
    return ended.killed or bool(part)


def headline(log: str) -> str:
    """A compiler's or linker's first error, else an exception's last line, else the last line."""
    # A line of carets only points at the line above it.
    lines = [line.strip() for line in log.splitlines() if line.strip(" \t^~|")]
    for pattern in TELLING:
        if found := [line for line in lines if pattern.search(line)]:
            # An exception's line stands under those of its causes.
            return found[-1 if pattern is TELLING[2] else 0][:LONGEST]
    return (lines or ["no message"])[-1][:LONGEST]


def toolkit_program(name: str) -> str | None:
    """A program of the CUDA toolkit, from PATH or where the toolkit is said or wont to be."""
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    places = [None, *(f"{home}/bin" for home in homes if home)]
    return next((found for place in places if (found := shutil.which(name, path=place))), None)


def facts_from_ptxas(log: str) -> BuildFacts:
    """What `ptxas -v` printed; of several kernels the most of each."""
    return BuildFacts(
        registers=_most(REGISTERS, log),
        spill_bytes=_most(SPILLS, log),
        stack_bytes=_most(STACK, log),
        shared_bytes=_most(SHARED, log) or (0 if REGISTERS.search(log) else None),
    )


def facts_from_listing(listing: str, shared_bytes: Iterable[int]) -> BuildFacts:
    """What `cuobjdump` listed. shared_bytes: asked for at the launches, as Triton does."""
    found = {name: _most(pattern, listing) for name, pattern in LISTED.items()}
    found["shared_bytes"] = max([found["shared_bytes"] or 0, *shared_bytes])
    return BuildFacts(**found)


def _most(pattern: re.Pattern[str], text: str) -> int | None:
    return max(map(int, pattern.findall(text)), default=None)
