"""Bursts on a CPU: one synchronous call after the other. Registers nothing itself.

They go over their slots in an order that the judge draws for each: from where one call finds its
inputs nothing tells where the next one will, so none can fetch or compute ahead for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from campaigns.evaluator.builds.device_plan import DevicePlan
from campaigns.evaluator.builds.memory import Memory
from campaigns.evaluator.builds.python_entry import Entry, bound_calls
from campaigns.evaluator.contract import KernelLaunch, Timer
from campaigns.evaluator.contract.layout import Layout
from campaigns.evaluator.tracer_answers import MOST_COPIED

Burst = Callable[[], None]


class HostPlan:
    """Calls bound to slots in shared memory.

    burst: makes of the slots in turn a burst that is ready to run; without it calls are made one by
    one from here. copied: tells what `CallPlan.copied` says; without it nothing is copied.
    """

    def __init__(
        self,
        calls: Sequence[Callable[[], None]],
        burst: Callable[[Sequence[int]], Burst] | None = None,
        copied: Callable[[], int] = int,
    ) -> None:
        self._calls = calls
        self.copied = copied
        self._ready = burst or self._one_by_one
        self._next: Burst = self._one_by_one(())

    def call(self, slot: int, *, ordered: bool = True) -> None:
        self._calls[slot]()

    def prepare(self, calls: int, loop: bool) -> tuple[Timer, int]:
        self._one_by_one(range(calls))()
        return Timer.CALLS, 0

    def order(self, slots: Sequence[int]) -> None:
        self._next = self._ready(slots)

    def run(self, calls: int) -> None:
        self._next()

    def _one_by_one(self, slots: Sequence[int]) -> Burst:
        calls = [self._calls[slot] for slot in slots]

        def burst() -> None:
            for call in calls:
                call()

        return burst

    def profile(self, calls: int) -> tuple[float, float]:
        return -1.0, -1.0

    def kernel(self, name: str) -> tuple[int, float, float]:
        return 0, 0.0, 0.0

    def launch(self) -> KernelLaunch | None:
        return None


def python_plan(
    run: Entry | None, layout: Layout, memory: Memory, slots: int, *, on_gpu: bool
) -> HostPlan | DevicePlan:
    """Calls of `run`, which is None before the candidate is loaded."""
    if run is None:
        raise RuntimeError("plan before load")
    calls = bound_calls(run, layout, memory, slots)
    copied = partial(copied_bits, run, calls[0], layout)
    if not on_gpu:
        return HostPlan(calls, copied=copied)
    return DevicePlan(calls, _stream(), layout, memory, copied)


@cache
def _stream() -> Any:
    """One for all plans: torch keeps what was freed on a stream for work of that stream."""
    import torch

    return torch.cuda.Stream()


def copied_bits(run: Callable[..., None], call: partial[None], layout: Layout) -> int:
    """The runner's side, after calls of this layout. call: of `run`, with its arguments.

    Copies in a call that torch.compile has compiled whole are not seen.
    """
    from campaigns.evaluator.builds.placed_answers import PlacedAnswers

    if not isinstance(run, PlacedAnswers):
        return 0
    names = run.copied(**call.keywords)
    told = enumerate(layout.outputs[:MOST_COPIED])
    return sum(1 << number for number, output in told if output.name in names)
