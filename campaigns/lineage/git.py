"""Run the `git` program on one repository of ours, with nothing of this host's own configuration.

No shell, no configuration of user or system, no hooks, no signing, no questions, bounded time. What
goes in as arguments is made here; everything that people or agents wrote goes in as data.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath

LIMIT_S = 30.0
_OPTIONS = (
    *("-c", "safe.directory=*"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "commit.gpgSign=false"),
    *("-c", "gc.auto=0"),
)
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    # The hashes on record are of this kind, whatever a later git would choose.
    "GIT_DEFAULT_HASH": "sha1",
    "HOME": os.devnull,
    "XDG_CONFIG_HOME": os.devnull,
    "LC_ALL": "C",
    "TZ": "UTC",
}


class LineageError(RuntimeError):
    """The commits cannot be made now; one line says why. The records are unchanged."""


class GitRefused(LineageError):
    """The git program ran, and said no."""


def git(
    repository: Path,
    *arguments: str,
    data: bytes = b"",
    limit_s: float | None = None,
    more: Mapping[str, str] | None = None,
) -> bytes:
    """What git prints for this bare repository. more: of its environment. Raises LineageError."""
    # A repository that is named is not searched for, so git never finds one around it.
    command = ["git", *_OPTIONS, f"--git-dir={repository}", *arguments]
    limit_s = limit_s or LIMIT_S
    environment = {"PATH": os.environ.get("PATH", os.defpath), **_ENVIRONMENT, **(more or {})}
    try:
        done = subprocess.run(
            command,
            input=data,
            capture_output=True,
            env=environment,
            cwd=repository.parent,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LineageError(f"git {arguments[0]}: not done within {limit_s:g} s") from None
    except OSError as error:
        # Of a folder that is gone, it names that folder.
        missing = isinstance(error, FileNotFoundError) and error.filename == "git"
        what = "no such program" if missing else f"{error.strerror} {error.filename or ''}".strip()
        raise LineageError(f"git: {what}") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        last = next((line for line in said if line.startswith(("fatal", "error"))), "")
        raise GitRefused(f"git {arguments[0]}: {last or f'exit status {done.returncode}'}")
    return done.stdout


LONGEST_WORD = 40
# Git keeps its own things under such names, some systems read others as the same.
OWN = re.compile(r"\.git|git~\d", re.IGNORECASE)


def branch_name(op: str, backend: str, gpu: str, day: datetime) -> str:
    """R9's and R46's branch: optimize/<op>_<backend>_<gpu>_<date>."""
    words = []
    for text in (op, backend, gpu):
        # Letters, digits, _ and -: whatever else there is could mean something in a branch's name.
        plain = re.sub(r"[^A-Za-z0-9_]+", "-", text)[:LONGEST_WORD].strip("-_")
        words.append(plain or "unnamed")
    return "optimize/" + "_".join([*words, f"{day:%Y-%m-%d}"])


def quoted(path: str) -> str:
    """A file's path in fast-import's quotes. Raises LineageError where it is no plain path."""
    parts = PurePosixPath(path).parts
    plain = path == "/".join(parts) and path.isprintable() and not set('"\\') & set(path)
    if not plain or not parts or any(p in ("..", "/") or OWN.match(p) for p in parts):
        raise LineageError(f"file name {path!r}; accepted: a plain path inside of the problem")
    return f'"{path}"'
