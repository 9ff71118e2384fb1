"""Bursts on a CPU: one synchronous call after the other. Registers nothing itself.

They go over their slots in an order that the judge draws for each: from where one call finds its
inputs nothing tells where the next one will, so none can fetch or compute ahead for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from campaigns.evaluator.contract import KernelLaunch, Timer

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
        for call in self._calls[:calls]:
            call()
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
