"""Bursts on a CPU: one synchronous call after the other. Registers nothing itself.

They go over their slots in an order that the judge draws for each: from where one call finds its
inputs nothing tells where the next one will, so none can fetch or compute ahead for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from campaigns.evaluator.contract import Launch, Timer


class HostPlan:
    """Calls bound to slots in shared memory."""

    def __init__(self, calls: list[Callable[[], None]]) -> None:
        self._calls = calls
        self._next: list[Callable[[], None]] = []

    def call(self, slot: int) -> None:
        self._calls[slot]()

    def prepare(self, calls: int, loop: bool) -> Timer:
        for call in self._calls[:calls]:
            call()
        return Timer.CALLS

    def order(self, slots: Sequence[int]) -> None:
        self._next = [self._calls[slot] for slot in slots]

    def run(self, calls: int) -> None:
        for call in self._next:
            call()

    def profile(self, calls: int) -> tuple[float, float]:
        return -1.0, -1.0

    def kernel(self, name: str) -> tuple[int, float, float]:
        return 0, 0.0, 0.0

    def launch(self) -> Launch | None:
        return None
