"""Is the device idle while every runner is stopped?

A stopped process runs no code, but kernels that it has started on a GPU continue: a kernel that
never ends, or work that waits for a word in memory to change, could read the inputs as they are
written and have answers ready before the clock starts. Two processes share a GPU by turns (unless
its multi-process service runs), so such work makes the judge's own work take longer.
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict, deque
from collections.abc import Callable
from functools import partial
from math import ceil

import torch

from campaigns.evaluator.contract import Outcome
from campaigns.evaluator.contract.errors import HostError
from campaigns.evaluator.judge.integrity.channel import RunnerChannel


def captured(work: Callable[[], object], device: torch.device) -> torch.cuda.CUDAGraph:
    """What `work` launches, captured once. It runs once before, which sets up what it needs."""
    work()
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize(device)
    with torch.cuda.graph(graph):
        work()
    return graph


# The judge's work: longer than one time slice of a GPU (2 ms), or it would end before another
# process got its turn; and how much longer than usual it may take.
CHAIN_MS, LIMIT = 5.0, 1.3
CHAIN_MIB, FEW, MEASURED = 16, 100, 7
# Of the last LAST checks so many have to find the device busy before it counts.
LAST, ODD = 5, 4
# How long the work of a killed runner may take to end, and the pause between two checks.
QUIET_S, PAUSE_S = 5.0, 0.05
SOMEBODY = "another process uses the device; wait until it is free"


class TimedWork:
    """The judge's work on a GPU, captured once, so that a busy host cannot slow it down."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._words = torch.zeros(CHAIN_MIB << 18, dtype=torch.int32, device=device)
        # Captured as a graph: launched one by one, the links would take as long as their launches.
        links, self._usual_ms = FEW, 0.0
        while True:
            self._graph = captured(partial(self._work, links), device)
            self._usual_ms = min(self._took_ms() for _ in range(MEASURED))
            if self._usual_ms >= CHAIN_MS:
                return
            links = ceil(1.1 * links * CHAIN_MS / self._usual_ms)

    def stretched(self) -> float:
        """How many times as long as usual the work takes now; 1 when nothing else runs."""
        return self._took_ms() / self._usual_ms

    def _work(self, links: int) -> None:
        for _ in range(links):
            self._words.add_(1)

    def _took_ms(self) -> float:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        self._graph.replay()
        end.record()
        torch.cuda.synchronize(self._device)
        return float(start.elapsed_time(end))


class DeviceQuiescence:
    """Checks before every burst that the device does nothing.

    stretched: see `TimedWork.stretched`. neighbours: how many other services' processes compute on
    the device now; None where that is unknown. rivals: whether several candidates share the device,
    so that work that one has left there may seem another's.
    """

    def __init__(
        self,
        stretched: Callable[[], float],
        neighbours: Callable[[], float | None],
        *,
        rivals: bool = False,
    ) -> None:
        self._stretched, self._neighbours, self._rivals = stretched, neighbours, rivals
        # Before the last bursts of each arm: did the device work, and did other services have
        # processes there?
        self._checks: dict[str, deque[tuple[bool, bool]]] = defaultdict(lambda: deque(maxlen=LAST))

    def require_quiet(self, suspect: RunnerChannel) -> None:
        """Call with the runners stopped and the inputs written, so that all bursts begin alike.

        Raises what `RunnerChannel.blame` makes of work that ends with the runner, and HostError
        when the device stays busy without it.
        """
        checks = self._checks[suspect.name]
        busy = self._stretched() > LIMIT
        checks.append((busy, busy and bool(self._neighbours())))
        odd = sum(was_busy for was_busy, _ in checks)
        if odd < ODD:
            return
        # Another service's work may end at the same time, and would look like the runner's.
        if self._rivals or any(crowded for _, crowded in checks):
            raise HostError(SOMEBODY)
        suspect.kill()
        deadline = time.monotonic() + QUIET_S
        while statistics.median(self._stretched() for _ in range(LAST)) > LIMIT:
            time.sleep(PAUSE_S)
            if time.monotonic() >= deadline:
                raise HostError(SOMEBODY)
        raise suspect.blame(
            Outcome.CHEATED,
            f"the device did its work before the clock started: in {odd} of {len(checks)} "
            "bursts, while it was stopped",
        )
