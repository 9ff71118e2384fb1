"""Run a compiler, locked down, and keep what it says."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from importlib import metadata

from campaigns.evaluator.contract.errors import BuildFailed, Unsupported
from campaigns.evaluator.contract.programs import TUNING, is_tuning
from campaigns.evaluator.contract.stream import BuildFacts
from campaigns.evaluator.sandbox.workplace import Workplace

LAST_WORDS = 300
# GCC's, nvcc's and Clang's drivers, of a part that SIGKILL has ended.
_KILLED_PART = re.compile(
    r"fatal error: Killed signal terminated program"
    r"|died due to signal 9\b"
    r"|unable to execute command: Killed"
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


def version_of(package: str) -> str:
    """The name and version of an installed package that compiles by itself; "" without it."""
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return ""


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
        # The compiler or one of its subprocesses was killed. A source could print the same words;
        # all that this wins is a measurement that is void.
        part_killed = not ended.stopped and _KILLED_PART.search(ended.log[-LAST_WORDS:])
        if not ended.killed and not part_killed:
            raise BuildFailed(log)
        if again:
            break
    raise Unsupported(f"{command[0]} was killed twice, which no source makes happen")


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
