"""What a backend gives the runner, and the registry: one file per backend, found by name."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from campaigns.evaluator import backends
from campaigns.evaluator.contract import Job, Source, Timer
from campaigns.evaluator.layout import Layout
from campaigns.evaluator.runner.memory import Memory


class BuildFailed(Exception):
    """The compiler refused the candidate; the text is its log."""


class Unsupported(Exception):
    """This host can not build or run this kind of candidate."""


class Plan(Protocol):
    """A loaded candidate bound to the slots of one case."""

    def call(self, slot: int) -> None:
        """One call on one slot, finished when this returns."""

    def prepare(self, calls: int) -> Timer:
        """Get ready for bursts over the first `calls` slots; how they will be issued."""

    def run(self, calls: int) -> None:
        """One burst over the first `calls` slots, finished when this returns."""

    def profile(self, calls: int) -> tuple[float, float]:
        """(device µs, event µs) per call, each negative where it can not be had."""


class Kernel(Protocol):
    """One candidate from source to bound calls."""

    def build(self, example: Layout) -> None:
        """Compile. Raises BuildFailed with the log."""

    def load(self) -> None:
        """Load; the candidate's own code runs from here on."""

    def plan(self, layout: Layout, memory: Memory, slots: int) -> Plan: ...


@dataclass(frozen=True, slots=True)
class Backend:
    """suffix: the file name ending of its candidates. kinds: device kinds that can time them."""

    name: str
    suffix: str
    kinds: tuple[str, ...]
    make: Callable[[Job, Source, Path], Kernel]


class UnknownBackend(ValueError):
    """No backend of that name; the message lists those there are."""


_REGISTRY: dict[str, Backend] = {}


def register(backend: Backend) -> Backend:
    _REGISTRY[backend.name] = backend
    return backend


def every() -> dict[str, Backend]:
    """All backends by name; importing this package's modules is what registers them."""
    for found in pkgutil.iter_modules(backends.__path__):
        importlib.import_module(f"{backends.__name__}.{found.name}")
    return dict(sorted(_REGISTRY.items()))


def get(name: str) -> Backend:
    """Raises UnknownBackend naming what is accepted."""
    known = every()
    if name not in known:
        raise UnknownBackend(f"backend: {name!r} is unknown; accepted: {', '.join(known)}")
    return known[name]


# Compiler flags are written by proposers and people: only what tunes code may pass, nothing that
# names a file, a plug-in, a wrapper or another program.
FLAG = re.compile(
    r"-O[0-3sz]|-Ofast|-m[a-z0-9.=+,-]+|-f(?!plugin|profile|dump|sanitize|use-ld)[a-z0-9=-]+"
    r"|-D[A-Za-z_]\w*(=[\w.+-]*)?|-std=[a-z+0-9]+|-W[a-z0-9=-]*"
    r"|--use_fast_math|--maxrregcount=\d+|-maxrregcount=\d+|--fmad=(true|false)|-lineinfo"
    r"|--extra-device-vectorization|-Xptxas=-O[0-3]|-Xptxas=-dlcm=c[agv]"
)


def check_flags(flags: tuple[str, ...]) -> None:
    """Raises BuildFailed naming the first flag that is not accepted."""
    for flag in flags:
        if not FLAG.fullmatch(flag):
            raise BuildFailed(
                f"flags: {flag!r} is not accepted; accepted are -O…, -m…, -f…, -D…, -std=…, -W…, "
                "--use_fast_math, --maxrregcount=N and the like"
            )


def compile_or_fail(command: list[str], folder: Path) -> str:
    """Run a compiler in `folder`; its log. Raises BuildFailed with the log, Unsupported without."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", check=False
        )
    except FileNotFoundError:
        raise Unsupported(f"{command[0]} is not on this host") from None
    log = f"$ {' '.join(command)}\n{done.stdout}{done.stderr}"
    (folder / "build.log").write_text(log)
    if done.returncode:
        raise BuildFailed(log)
    return log
