"""What a backend gives the runner: a candidate from its source to calls that are bound to slots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from campaigns.evaluator.builds.memory import Memory
from campaigns.evaluator.contract import KernelLaunch, Timer
from campaigns.evaluator.contract.layout import Layout
from campaigns.evaluator.contract.stream import BuildFacts


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
        """On which slots the next burst makes its calls, in turn."""

    def run(self, calls: int) -> None:
        """The burst that was ordered, of so many calls, finished when this returns."""

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
