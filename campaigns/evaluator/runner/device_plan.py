"""Bursts on a GPU: one CUDA graph over all slots, or a plain loop where it cannot be captured.

Registers nothing itself. Everything the candidate starts must be finished when `run` returns; a
device-wide synchronise ends every burst, whatever streams the candidate used.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from campaigns.evaluator.builds.kernel_names import last_name
from campaigns.evaluator.contract import KernelLaunch, Timer
from campaigns.evaluator.layout import Layout
from campaigns.evaluator.runner.launch_trace import read_launch
from campaigns.evaluator.runner.memory import Memory

if TYPE_CHECKING:
    import torch
    from torch.autograd import profiler

SENTINEL = 0x5C
PROFILED_CALLS = 64
# Bursts between events; one alone strays by half a percent.
EVENT_BURSTS = 5
# How the tracer names what sets memory to one value: the driver's own way, and torch's.
FILLING = ("Memset", "FillFunctor")


class DevicePlan:
    """Calls bound to slots in device memory, issued on `stream`.

    copied: tells what `CallPlan.copied` says; without it nothing is copied.
    """

    def __init__(
        self,
        calls: Sequence[Callable[[], None]],
        stream: torch.cuda.Stream,
        layout: Layout,
        memory: Memory,
        copied: Callable[[], int] = int,
    ) -> None:
        self._calls = calls
        self.copied = copied
        self._stream = stream
        self._layout = layout
        self._memory = memory
        self._graphs: dict[int, torch.cuda.CUDAGraph] = {}
        self._loops = False
        self._seen: list[tuple[str, float]] = []
        self._seen_calls = 1

    def call(self, slot: int) -> None:
        import torch

        with torch.cuda.stream(self._stream):
            self._calls[slot]()
        torch.cuda.synchronize()

    def prepare(self, calls: int, loop: bool) -> Timer:
        """Capture the burst once; every later burst replays the same graph, or loops for ever."""
        if loop and not self._loops:
            self._loops = True
            self._graphs.clear()
        if not self._loops and calls not in self._graphs:
            self.call(0)  # compile and set up outside the capture
            graph = self._capture(calls)
            if graph is None:
                self._loops = True
                self._graphs.clear()
            else:
                self._graphs[calls] = graph
        self.run(calls)
        return Timer.LOOP if self._loops else Timer.GRAPH

    def _capture(self, calls: int) -> torch.cuda.CUDAGraph | None:
        import torch

        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, stream=self._stream, capture_error_mode="thread_local"):
                for call in self._calls[:calls]:
                    call()
            return graph if self._replay_writes(graph) else None
        except Exception as error:  # noqa: BLE001 - whatever stops a capture, a loop remains
            print(f"not captured, timed as a plain loop: {error}", file=sys.stderr)
        torch.cuda.synchronize()
        return None

    def _replay_writes(self, graph: torch.cuda.CUDAGraph) -> bool:
        """A capture holds nothing when the candidate launched on a stream of its own."""
        import torch

        output = self._memory.tensor(self._layout, 0, self._layout.outputs[0])
        bits = output.view(torch.uint8)
        bits.fill_(SENTINEL)
        graph.replay()
        torch.cuda.synchronize()
        return bool((bits != SENTINEL).any())

    def order(self, slots: Sequence[int]) -> None:
        raise RuntimeError("a captured burst keeps its order")

    def run(self, calls: int) -> None:
        import torch

        with torch.cuda.stream(self._stream):
            self._issue(calls)
        torch.cuda.synchronize()

    def _issue(self, calls: int) -> None:
        graph = self._graphs.get(calls)
        if graph is not None:
            graph.replay()
        else:
            for call in self._calls[:calls]:
                call()

    def profile(self, calls: int) -> tuple[float, float]:
        """Device time of everything the driver's tracer saw, and events between bursts."""
        # Events first: once the tracer has been attached every launch takes longer.
        event_us = self._event_us(calls)
        return self._traced_us(min(calls, PROFILED_CALLS)), event_us

    def kernel(self, name: str) -> tuple[int, float, float]:
        if name:
            own = [us for traced, us in self._seen if last_name(traced) == name]
            return len(own), sum(own) / self._seen_calls, 0.0
        filling_us = sum(us for traced, us in self._seen if any(f in traced for f in FILLING))
        total_us = sum(us for _, us in self._seen)
        return self._seen_calls, total_us / self._seen_calls, filling_us / self._seen_calls

    def launch(self) -> KernelLaunch | None:
        """Trace one call and read its longest kernel."""
        with self._tracing() as trace:
            self._calls[0]()
        with tempfile.NamedTemporaryFile(dir=".", suffix=".json") as file:
            trace.export_chrome_trace(file.name)
            return read_launch(Path(file.name).read_text())

    def _traced_us(self, calls: int) -> float:
        import torch

        with self._tracing() as trace:
            for call in self._calls[:calls]:
                call()
        self._seen_calls = calls
        self._seen = [
            (event.name, event.self_device_time_total)
            for event in trace.function_events or ()
            if event.device_type == torch.autograd.DeviceType.CUDA
        ]
        # The mean of all: calls of some kernels take one of two times, here as in bursts.
        total_us = sum(us for _, us in self._seen)
        return total_us / calls if total_us > 0 else -1.0

    @contextlib.contextmanager
    def _tracing(self) -> Iterator[profiler.profile]:
        """What is launched within is traced, until all of it is finished."""
        import torch

        # Not torch.profiler, which imports torch's compiler first: that takes seconds.
        from torch.autograd import profiler

        torch.cuda.synchronize()
        with profiler.profile(use_cpu=False, use_device="cuda", use_kineto=True) as trace:
            with torch.cuda.stream(self._stream):
                yield trace
            torch.cuda.synchronize()

    def _event_us(self, calls: int) -> float:
        """From the end of a burst to that of the next one, queued while the one before runs.

        So nothing that this process does stands between the two. Raises what a call raises.
        """
        import torch

        ends = [torch.cuda.Event(enable_timing=True) for _ in range(1 + EVENT_BURSTS)]
        torch.cuda.synchronize()
        with torch.cuda.stream(self._stream):
            for end in ends:
                self._issue(calls)
                end.record(self._stream)
        torch.cuda.synchronize()
        bursts_ms = [float(start.elapsed_time(end)) for start, end in pairwise(ends)]
        return median(bursts_ms) * 1e3 / calls
