"""Bursts on a GPU: a chain of captured calls, or a plain loop where they cannot be captured.

The judge draws the order of the slots anew for every burst. No call begins before the one before it
has ended: a chain holds them so, and in a loop the whole device is waited for after each.
Everything the candidate starts must be finished when `run` returns; a device-wide synchronise ends
every burst, whatever streams the candidate used. A candidate that replaces these methods in its own
process escapes all that; it is then one of those that the judge's clock, fence and probes are for.
Registers nothing itself.
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from campaigns.evaluator.builds.call_chain import CallChain, Unordered
from campaigns.evaluator.builds.kernel_names import last_name
from campaigns.evaluator.builds.memory import Memory
from campaigns.evaluator.contract import KernelLaunch, Timer
from campaigns.evaluator.contract.layout import Layout, TensorArg

if TYPE_CHECKING:
    import torch
    from torch.autograd import profiler

SENTINEL = 0x5C
# How long a checked call is held back, in cycles of the device's clock: about a millisecond, in
# which an honest call has launched all that it launches.
HELD_CYCLES = 2_000_000
# So much of a tensor is written right before a checked call, or read right behind it.
ORDERED_BYTES = 64 << 20
PROFILED_CALLS = 256
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
        self._chain: CallChain | None = None
        # Memory that captured calls have allocated; they never run at the same time.
        self._pool: torch.cuda.MemPool | None = None
        self._loops = False
        # The slots of the next burst, in turn.
        self._order: Sequence[int] = ()
        self._event_us = 0.0
        self._seen: list[tuple[str, float]] = []
        self._seen_calls = 1

    def call(self, slot: int, *, ordered: bool = True) -> None:
        """Work that does not wait for the call's stream finds zeros where its inputs will be.

        And what that stream does not wait for comes too late: outputs are as they were right behind
        the call.
        """
        import torch

        given = self._bits(slot, self._layout.given) if ordered else []
        outputs = self._bits(slot, self._layout.outputs) if ordered else []
        with torch.cuda.stream(self._stream):
            contents = [place.clone() for place in given]
            for place in given:
                place.zero_()
            if ordered:
                torch.cuda._sleep(HELD_CYCLES)
            for place, content in zip(given, contents, strict=True):
                place.copy_(content)
            self._calls[slot]()
            answers = [place.clone() for place in outputs]
        torch.cuda.synchronize()
        for place, answer in zip(outputs, answers, strict=True):
            place.copy_(answer)
        torch.cuda.synchronize()

    def _bits(self, slot: int, args: Sequence[TensorArg]) -> list[torch.Tensor]:
        import torch

        tensors = [self._memory.tensor(self._layout, slot, arg) for arg in args]
        return [one.reshape(-1).view(torch.uint8)[:ORDERED_BYTES] for one in tensors]

    def prepare(self, calls: int, loop: bool) -> tuple[Timer, int]:
        """Have the calls captured, or loop for ever; then try a burst. Raises Unordered."""
        self._order = range(calls)
        if not (loop or self._loops):
            self._loops = not self._is_chained(calls)
        self._loops = self._loops or loop
        if self._loops:
            self._chain = self._pool = None
        self._arrange()
        self.run(calls)
        if self._chain is None:
            return Timer.LOOP, 0
        return Timer.GRAPH, sum(self._chain.nodes[:calls])

    def _is_chained(self, calls: int) -> bool:
        """Capture each of these calls once; say whether they can be a chain."""
        import torch

        if self._chain is not None and calls <= len(self._chain.nodes):
            return True
        self.call(0)  # compile and set up outside the capture
        try:
            if self._chain is None:
                self._pool = torch.cuda.MemPool()
                self._chain = CallChain(self._stream.cuda_stream)
            with torch.cuda.stream(self._stream), torch.cuda.use_mem_pool(self._pool):
                self._chain.capture(self._calls[:calls])
            # Captures hold no such work where the candidate launched it on a stream of its own.
            bits = self._bits(0, self._layout.outputs[:1])[0]
            bits.fill_(SENTINEL)
            self._arrange()
            self._issue()
            torch.cuda.synchronize()
            if bool((bits != SENTINEL).any()):
                return True
            print("timed as a plain loop: the captured calls write no output", file=sys.stderr)
        except Unordered:
            raise
        except Exception as error:  # noqa: BLE001 - whatever stops a capture, a loop remains
            print(f"not captured, timed as a plain loop: {error}", file=sys.stderr)
        torch.cuda.synchronize()
        return False

    def order(self, slots: Sequence[int]) -> None:
        self._order = slots
        self._arrange()

    def _arrange(self) -> None:
        """Have the next burst on the device before the judge's clock runs."""
        import torch

        if self._chain is not None and self._chain.order != tuple(self._order):
            self._chain.arrange(self._order)
            torch.cuda.synchronize()

    def run(self, calls: int) -> None:
        import torch

        with torch.cuda.stream(self._stream):
            self._issue()
        torch.cuda.synchronize()

    def _issue(self) -> None:
        import torch

        if self._chain is not None:
            self._chain.launch()
            return
        for slot in self._order:
            self._calls[slot]()
            # Not the stream alone: a call may use others, which it need not tell.
            torch.cuda.synchronize()

    def profile(self, calls: int) -> tuple[float, float]:
        """Device time of everything the driver's tracer saw, and events between bursts.

        Events are taken once: after a tracer was attached every launch takes longer. Raises what a
        call raises.
        """
        import torch

        self._event_us = self._event_us or self._between_events_us(calls)
        self._seen_calls = min(calls, PROFILED_CALLS)
        with self._tracing() as trace:
            for call in self._calls[: self._seen_calls]:
                call()
        self._seen = [
            (event.name, event.self_device_time_total)
            for event in trace.function_events or ()
            if event.device_type == torch.autograd.DeviceType.CUDA
        ]
        # The mean of all: calls of some kernels take one of two times, here as in bursts.
        total_us = sum(us for _, us in self._seen)
        traced_us = total_us / self._seen_calls if total_us > 0 else -1.0
        return traced_us, self._event_us

    def _between_events_us(self, calls: int) -> float:
        """An event is that of the end of a burst, which is queued while the one before it runs.

        So nothing that this process does stands between two.
        """
        import torch

        self.order(range(calls))
        ends = [torch.cuda.Event(enable_timing=True) for _ in range(1 + EVENT_BURSTS)]
        torch.cuda.synchronize()
        with torch.cuda.stream(self._stream):
            for end in ends:
                self._issue()
                end.record(self._stream)
        torch.cuda.synchronize()
        bursts_ms = [float(start.elapsed_time(end)) for start, end in pairwise(ends)]
        return median(bursts_ms) * 1e3 / calls

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


def read_launch(text: str) -> KernelLaunch | None:
    """The longest kernel of a trace of one call; None where the trace has no kernel with a grid.

    ValueError, KeyError or TypeError for a text that is no such trace.
    """
    kernels = [
        event
        for event in json.loads(text)["traceEvents"]
        if event.get("cat") == "kernel" and "grid" in event.get("args", {})
    ]
    if not kernels:
        return None
    args: dict[str, Any] = max(kernels, key=lambda event: float(event["dur"]))["args"]
    occupancy = args.get("est. achieved occupancy %")
    return KernelLaunch(
        kernels=len(kernels),
        grid=tuple(int(n) for n in args["grid"]),
        block=tuple(int(n) for n in args["block"]),
        registers=int(args.get("registers per thread", 0)),
        shared_bytes=int(args.get("shared memory", 0)),
        occupancy_percent=None if occupancy is None else int(occupancy),
    )
