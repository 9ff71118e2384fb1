"""What it costs that the calls of a burst are captured one by one and chained.

Beside one capture over all of them, in which nothing would keep them from overlapping.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import Any

from campaigns.evaluator.builds.call_chain import CHAINED, CallChain

# Elements that are doubled, and calls in a burst: about 2 and 50 µs on a large GPU.
KERNELS = ((1 << 12, 4096), (1 << 24, 512))
# Calls of one graph that are tried; with more, one graph takes longer to make.
LENGTHS = (64, CHAINED, 4096)
BURSTS = 21
CHAIN_NOTE = (
    "Time per call by the device's events around a burst, the median of "
    f"{BURSTS}. One capture: all calls in one graph, as they were timed before they were chained. "
    f"A trial chains {CHAINED} calls in a graph, and launches longer bursts as several in a row."
)


def chain_costs(device: str) -> Iterator[dict[str, Any]]:
    """Measure in this process, on a CUDA device that is idle: a row for each kernel and length.

    One capture, chain: a call in one capture of all calls, and in the chain. Capture, make: what a
    burst takes to capture, and to be made ready.
    """
    import torch

    torch.cuda.set_device(torch.device(device))
    stream = torch.cuda.Stream()
    for size, calls in KERNELS:
        x, y = torch.ones(size, device=device), torch.empty(size, device=device)
        call = partial(torch.mul, x, 2, out=y)

        def all_calls(call: Callable[[], object] = call, calls: int = calls) -> None:
            for _ in range(calls):
                call()

        with torch.cuda.stream(stream):
            call()
            torch.cuda.synchronize()
            whole = CallChain(stream.cuda_stream)
            _passed_ms(all_calls, whole, 1)
            one_us = _call_us(stream, whole, 1) / calls
            for length in LENGTHS:
                chain = CallChain(stream.cuda_stream, chained=length)
                capture_ms, make_ms = _passed_ms(call, chain, calls)
                chained_us = _call_us(stream, chain, calls) / calls
                yield {
                    "calls": calls,
                    "calls in a graph": length,
                    "one capture µs": one_us,
                    "chain µs": chained_us,
                    "apart µs": f"{chained_us - one_us:+.3f}",
                    "capture ms": capture_ms,
                    "make ms": make_ms,
                }


def _passed_ms(call: Callable[[], object], chain: CallChain, calls: int) -> tuple[float, float]:
    """How long it takes to capture so many calls, and to make the burst."""
    begun = time.perf_counter()
    chain.capture([call] * calls)
    captured = time.perf_counter()
    chain.make(calls)
    return (captured - begun) * 1e3, (time.perf_counter() - captured) * 1e3


def _call_us(stream: Any, chain: CallChain, calls: int) -> float:
    """The usual time of a burst, in µs."""
    import torch

    times_us = []
    for _ in range(BURSTS + 2):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record(stream)
        chain.launch(calls)
        end.record(stream)
        end.synchronize()
        times_us.append(float(begin.elapsed_time(end)) * 1e3)
    # The first ones bring the graph to the device.
    return median(times_us[2:])
