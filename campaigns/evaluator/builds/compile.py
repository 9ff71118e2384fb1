"""Run a compiler, locked down, and keep what it says."""

from __future__ import annotations

import re
import subprocess

from campaigns.evaluator.builds.flags import TUNING, is_tuning
from campaigns.evaluator.sandbox.workplace import Workplace


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
    """Run a compiler, locked down; its log. Raises BuildFailed, Unsupported without a compiler."""
    try:
        ended = place.run(command)
    except FileNotFoundError:
        raise Unsupported(f"{command[0]} is not on this host") from None
    except subprocess.SubprocessError as error:
        raise Unsupported(f"the compiler could not be locked down: {error}") from None
    log = f"$ {' '.join(command)}\n{ended.log}"
    place.keep_log(log)
    if ended.status:
        raise BuildFailed(log)
    return log
