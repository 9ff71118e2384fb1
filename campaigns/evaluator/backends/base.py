"""What a backend gives the runner, and the registry: one file per backend, found by name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from campaigns.evaluator import backends
from campaigns.evaluator.builds.kernel_names import no_kernels
from campaigns.evaluator.contract import BuildFacts, Job, KernelLaunch, Source, Timer
from campaigns.evaluator.layout import Layout
from campaigns.evaluator.runner.memory import Memory
from campaigns.evaluator.sandbox.workplace import Workplace

# What a file is written in, by the ending of its name.
BACKEND_OF = {".cpp": "cpp", ".cu": "cuda", ".py": "triton"}


class CallPlan(Protocol):
    """A loaded candidate bound to the slots of one case."""

    def call(self, slot: int, *, ordered: bool = True) -> None:
        """One call on one slot, finished when this returns.

        ordered: on a GPU, write its inputs right before it on its stream, and take its outputs as
        they are right behind it.
        """

    def prepare(self, calls: int, loop: bool) -> tuple[Timer, int]:
        """Get ready for bursts over the first `calls` slots.

        Returns how they will be issued, and how many nodes of a graph do their work (0 without).

        loop: call by call from now on, even where something better is there. Raises Unordered.
        """

    def order(self, slots: Sequence[int]) -> None:
        """On which slots the next burst makes its calls, in turn; not where a graph holds them."""

    def run(self, calls: int) -> None:
        """One burst over the first `calls` slots, finished when this returns."""

    def profile(self, calls: int) -> tuple[float, float]:
        """(device µs, event µs) per call, each negative where it cannot be had."""

    def kernel(self, name: str) -> tuple[int, float, float]:
        """What the last profile saw of the candidate's own kernel of that name.

        (launches in all traced calls, device µs per call, 0). With "" it is all that ran: (traced
        calls, device µs per call, and of those what only fills memory).
        """

    def launch(self) -> KernelLaunch | None:
        """How one call launches its longest kernel; None where that cannot be seen."""

    def copied(self) -> int:
        """Into which outputs a call copies an answer that it has already: bits in their order."""


class CandidateKernel(Protocol):
    """One candidate from source to bound calls.

    starts_programs: whether it needs a compiler after it was loaded, as Triton does on a GPU.
    """

    starts_programs: bool

    def build_into(self, examples: Sequence[Layout], files: Sequence[int]) -> BuildFacts:
        """Compile and write each of `Backend.artefacts` into its file. Raises BuildFailed."""

    def take(self, example: Layout, files: Sequence[int]) -> None:
        """Be as after `build`, from the artefacts in memory files. Raises OSError."""

    def build(self, example: Layout) -> None:
        """Compile. Raises BuildFailed with the log."""

    def load(self) -> None:
        """Load; the candidate's own code runs from here on."""

    def plan(self, layout: Layout, memory: Memory, slots: int) -> CallPlan: ...


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
class Backend:
    """suffix: the file name ending of its candidates. kinds: device kinds that can time them.

    kernels: the names of the kernels that a source text defines. refuses: why a source text can
    not be judged with arguments laid out so on a device, or "". note: what people should know of
    how a source is built, or "". builds_in_calls: whether calls of a source with new sizes compile
    or tune it, which takes as long as a build. compiler: its name and version on this host, or "".
    artefacts: the files that a build leaves, by which another process loads without building.
    """

    name: str
    suffix: str
    kinds: tuple[str, ...]
    make: Callable[[Job, Source, Workplace], CandidateKernel]
    kernels: Callable[[str], tuple[str, ...]] = no_kernels
    refuses: Callable[[Collection[Layout], str, str], str] = no_refusal
    note: Callable[[Source], str] = no_note
    builds_in_calls: Callable[[Source], bool] = builds_before
    compiler: Callable[[], str] = no_compiler
    artefacts: tuple[str, ...] = ()


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
