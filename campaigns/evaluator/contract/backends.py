"""What a backend says of itself, and the registry: one file per backend, found by name."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from campaigns.evaluator.contract.job import Job, Source
from campaigns.evaluator.contract.layout import Layout

# The package of which every module registers one.
PLUGINS = "campaigns.evaluator.backends"
# What a file is written in, by the ending of its name.
BACKEND_OF = {".cpp": "cpp", ".cc": "cpp", ".c": "cpp", ".cu": "cuda", ".py": "triton"}


def no_kernels(text: str) -> tuple[str, ...]:
    """For languages without kernels of their own."""
    return ()


def no_refusal(layouts: Collection[Layout], text: str, device: str) -> str:
    """For backends that can judge whatever a slot can hold."""
    return ""


def builds_before(source: Source) -> bool:
    """For backends whose kernels are built once, before any call."""
    return False


def no_note(source: Source) -> str:
    """For backends that have nothing to say about a source."""
    return ""


def no_compiler() -> str:
    """For backends that name none."""
    return ""


@dataclass(frozen=True, slots=True)
class Targets:
    """What compilers call the devices that a backend builds for: a pattern, and known ones."""

    pattern: str
    known: tuple[str, ...]

    def refusal(self, target: str) -> str:
        """Why this is none of them; "" where it may be: the compiler has the last word."""
        if re.fullmatch(self.pattern, target):
            return ""
        return f"target: {target!r}; accepted: {', '.join(self.known)} and the like"


@dataclass(frozen=True, slots=True)
class Backend:
    """One backend. make: gives a `CandidateKernel` (builds/kernel.py), to be built in a workplace.

    suffix: the file name ending of its candidates. kinds: device kinds that can time them.

    kernels: the names of the kernels that a source text defines. refuses: why a source text can
    not be judged with arguments laid out so on a device, or "". note: what people should know of
    how a source is built, or "". builds_in_calls: whether calls of a source with new sizes compile
    or tune it, which takes as long as a build. compiler: its name and version on this host, or "".
    artefacts: the files that a build leaves, by which another process loads without building.
    targets: None where it builds for the host alone.
    """

    name: str
    suffix: str
    kinds: tuple[str, ...]
    make: Callable[[Job, Source, Any], Any]
    kernels: Callable[[str], tuple[str, ...]] = no_kernels
    refuses: Callable[[Collection[Layout], str, str], str] = no_refusal
    note: Callable[[Source], str] = no_note
    builds_in_calls: Callable[[Source], bool] = builds_before
    compiler: Callable[[], str] = no_compiler
    artefacts: tuple[str, ...] = ()
    targets: Targets | None = None


class UnknownBackend(ValueError):
    """No backend of that name; the message lists those there are."""


_REGISTRY: dict[str, Backend] = {}


def register(backend: Backend) -> Backend:
    _REGISTRY[backend.name] = backend
    return backend


def every() -> dict[str, Backend]:
    """All backends by name; importing the modules of that package is what registers them."""
    for found in pkgutil.iter_modules(importlib.import_module(PLUGINS).__path__):
        importlib.import_module(f"{PLUGINS}.{found.name}")
    return dict(sorted(_REGISTRY.items()))


def get(name: str) -> Backend:
    """Raises UnknownBackend naming what is accepted."""
    known = every()
    if name not in known:
        raise UnknownBackend(f"backend: {name!r} is unknown; accepted: {', '.join(known)}")
    return known[name]
