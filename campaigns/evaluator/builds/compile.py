"""Run a compiler, locked down, and keep what it says."""

from __future__ import annotations

import re
import subprocess

from campaigns.evaluator.builds.flags import TUNING, is_tuning
from campaigns.evaluator.sandbox.workplace import Ended, Workplace

LAST_WORDS = 300
# GCC's, nvcc's and Clang's drivers, of a part that SIGKILL has ended.
_KILLED_PART = re.compile(
    r"fatal error: Killed signal terminated program"
    r"|died due to signal 9\b"
    r"|unable to execute command: Killed"
)


class BuildFailed(Exception):
    """The compiler refused the candidate; the text is its log."""


class Unsupported(Exception):
    """This host cannot build or run this kind of candidate."""


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
