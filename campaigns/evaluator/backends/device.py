"""Bursts on a GPU: one CUDA graph over all slots, or a plain loop where it can not be captured.

Registers nothing itself. Everything the candidate starts must be finished when `run` returns; a
device-wide synchronise ends every burst, whatever streams the candidate used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from campaigns.evaluator.contract import Timer
from campaigns.evaluator.layout import Layout
from campaigns.evaluator.runner.memory import Memory

if TYPE_CHECKING:
    import torch

SENTINEL = 0x5C
PROFILED_CALLS = 64


class DevicePlan:
    """Calls bound to slots in device memory, issued on `stream`."""

    def __init__(
        self,
        calls: list[Callable[[], None]],
        stream: torch.cuda.Stream,
        layout: Layout,
        memory: Memory,
    ) -> None:
        self._calls = calls
        self._stream = stream
        self._layout = layout
        self._memory = memory
        self._graphs: dict[int, torch.cuda.CUDAGraph] = {}
        self._loops = False

    def call(self, slot: int) -> None:
        import torch

        with torch.cuda.stream(self._stream):
            self._calls[slot]()
        torch.cuda.synchronize()

    def prepare(self, calls: int) -> Timer:
        """Capture the burst once; every later burst replays the same graph."""
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

    def run(self, calls: int) -> None:
        import torch

        graph = self._graphs.get(calls)
        if graph is not None:
            with torch.cuda.stream(self._stream):
                graph.replay()
        else:
            with torch.cuda.stream(self._stream):
                for call in self._calls[:calls]:
                    call()
        torch.cuda.synchronize()

    def profile(self, calls: int) -> tuple[float, float]:
        """Device time of everything the driver's tracer saw, and events around one burst."""
        return self._traced_us(min(calls, PROFILED_CALLS)), self._event_us(calls)

    def _traced_us(self, calls: int) -> float:
        import torch
        from torch.profiler import ProfilerActivity, profile

        torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CUDA]) as trace:
            with torch.cuda.stream(self._stream):
                for call in self._calls[:calls]:
                    call()
            torch.cuda.synchronize()
        total_us = sum(
            event.self_device_time_total
            for event in trace.events() or ()
            if event.device_type == torch.autograd.DeviceType.CUDA
        )
        return total_us / calls if total_us > 0 else -1.0

    def _event_us(self, calls: int) -> float:
        import torch

        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        with torch.cuda.stream(self._stream):
            start.record(self._stream)
            graph = self._graphs.get(calls)
            if graph is not None:
                graph.replay()
            else:
                for call in self._calls[:calls]:
                    call()
            end.record(self._stream)
        torch.cuda.synchronize()
        return float(start.elapsed_time(end)) * 1e3 / calls
