"""Matrix products on the CPU through torch, whose library uses the matrix units where there are."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from campaigns.evaluator.ceilings.result import Sample

DTYPES = ("float32", "float64", "bfloat16", "float16")
# The largest whose single product stays below LONGEST_S: some CPUs have no unit for a dtype.
SIZES = (1024, 512, 256)
LONGEST_S = 0.05
# Short, and many: a neighbour stops all threads of a product, and some windows have to escape it.
WINDOW_S = 0.01
REPEATS = 10


def measure_matmuls() -> tuple[tuple[Sample, ...], tuple[str, ...]]:
    """The rates per dtype, and a note where torch is not installed."""
    try:
        import torch
    except ImportError:
        return (), ("torch is not installed: matrix products were not measured",)
    return tuple(_sample(torch, dtype) for dtype in DTYPES), ()


def _sample(torch: Any, dtype: str) -> Sample:
    for size in SIZES:
        call = _product(torch, getattr(torch, dtype), size)
        # The first call also builds the kernel.
        fastest_s = min(_elapsed_s(call, 1) for _ in range(3))
        if fastest_s <= LONGEST_S:
            break
    calls = max(1, int(WINDOW_S / fastest_s))
    times_s = [_elapsed_s(call, calls) for _ in range(REPEATS)]
    rates = tuple(2.0 * size**3 * calls / time_s for time_s in times_s)
    threads = torch.get_num_threads()
    return Sample("matmul_throughput", dtype, f"torch.mm {size}³", threads, 0, rates)


def _product(torch: Any, dtype: Any, size: int) -> Callable[[], Any]:
    left, right = (torch.randn(size, size).to(dtype) for _ in range(2))
    return partial(torch.mm, left, right, out=torch.empty_like(left))


def _elapsed_s(call: Callable[[], Any], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return time.perf_counter() - start
