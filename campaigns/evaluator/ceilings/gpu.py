"""Ceilings of a CUDA device, through torch and one Triton kernel, on CUDA's own events."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from campaigns.evaluator.ceilings.host import first_line
from campaigns.evaluator.ceilings.result import Ceiling, CeilingsError, Result, Sample, highest

MIB = 2**20
# Arrays start here, so that the last-level cache serves little of them.
PLATEAU_CACHES = 4
LARGEST_MIB = 4096
# Two arrays may take half of the free memory.
MEMORY_SHARE = 4
MATMUL_SIZE = 8192
REPEATS = 20
WINDOW_MS = 10.0
BFLOAT16_FROM = (8, 0)
FMA_BLOCK = 1024
FMA_UNROLL = 32
FMA_STEPS = 512
# Programs of four warps for each multiprocessor: enough to hide every latency.
FMA_PROGRAMS_PER_SM = 16


def measure_gpu(index: int, where: Mapping[str, str]) -> Result:
    """Measure `cuda:<index>`; takes about 15 s. `where` is what the result says of the run itself.

    Raises CeilingsError when torch sees no such device.
    """
    torch = _torch(index)
    properties = torch.cuda.get_device_properties(index)
    clocks = Clocks(torch, index)
    samples = [*_copies(torch, index, clocks), *_multiply_adds(torch, properties, clocks)]
    samples += _matmuls(torch, properties, clocks)
    notes = () if getattr(properties, "L2_cache_size", 0) else ("size of the L2 cache unknown",)
    return Result(
        **where,
        name=properties.name,
        versions=_versions(torch),
        clocks=clocks.summary(),
        samples=tuple(samples),
        ceilings=choose(samples),
        notes=notes,
    )


def choose(samples: list[Sample]) -> tuple[Ceiling, ...]:
    """The highest rate of every metric and dtype that was measured."""
    kinds = dict.fromkeys((sample.metric, sample.dtype) for sample in samples)
    found = (highest(samples, metric, dtype) for metric, dtype in kinds)
    return tuple(ceiling for ceiling in found if ceiling is not None)


class Clocks:
    """Multiprocessor clocks and power, sampled while the device works."""

    def __init__(self, torch: Any, index: int) -> None:
        self._torch = torch
        self._index = index
        self._seen: dict[str, list[tuple[int, float]]] = {}
        self.missing = ""

    def sample(self, label: str) -> None:
        """Read the clock now; call it after work was queued and before waiting for it."""
        try:
            mhz = int(self._torch.cuda.clock_rate(self._index))
            watts = self._torch.cuda.power_draw(self._index) / 1000
        except (RuntimeError, ImportError) as error:
            self.missing = f"not reported: {error!s:.80}"
            return
        self._seen.setdefault(label, []).append((mhz, watts))

    def summary(self) -> dict[str, str]:
        """Per label the range of clocks and the highest power."""
        rows = {}
        for label, seen in self._seen.items():
            mhz = [clock for clock, _ in seen]
            watts = max(power for _, power in seen)
            rows[f"clock, {label}"] = f"{min(mhz)} to {max(mhz)} MHz, at most {watts:.0f} W"
        return rows or {"clocks": self.missing or "not sampled"}


def _torch(index: int) -> Any:
    try:
        import torch
    except ImportError as error:
        raise CeilingsError(f"torch: {error}; a GPU is measured through it") from None
    if not torch.cuda.is_available():
        raise CeilingsError(f"cuda:{index}: torch {torch.__version__} sees no CUDA device")
    if index >= torch.cuda.device_count():
        raise CeilingsError(f"cuda:{index}: torch sees {torch.cuda.device_count()} device(s)")
    torch.cuda.set_device(index)
    return torch


def _copies(torch: Any, index: int, clocks: Clocks) -> list[Sample]:
    cache = getattr(torch.cuda.get_device_properties(index), "L2_cache_size", 0)
    free, _ = torch.cuda.mem_get_info(index)
    size = 64 * MIB
    while size < PLATEAU_CACHES * cache:
        size *= 2
    samples = []
    while size <= LARGEST_MIB * MIB and size * MEMORY_SHARE <= free:
        source = torch.rand(size // 4, device="cuda")
        target = torch.empty_like(source)
        methods = {
            "driver copy": partial(target.copy_, source),
            "element-wise kernel": partial(torch.mul, source, 1.0, out=target),
        }
        for method, call in methods.items():
            rates = _rates(torch, call, 2.0 * size, partial(clocks.sample, "copies"))
            samples.append(Sample("copy_bandwidth", "", method, 0, size, rates))
        del source, target, methods, call
        size *= 2
    if not samples:
        raise CeilingsError(f"cuda:{index}: {free / MIB:.0f} MiB free; too little for two arrays")
    return samples


def _multiply_adds(torch: Any, properties: Any, clocks: Clocks) -> list[Sample]:
    # Late: the kernel's module imports triton.
    from campaigns.evaluator.ceilings.fma_kernel import multiply_add

    programs = properties.multi_processor_count * FMA_PROGRAMS_PER_SM
    operations = 2.0 * programs * FMA_BLOCK * FMA_UNROLL * FMA_STEPS
    samples = []
    for name in ("float32", "float64"):
        out = torch.empty(programs * FMA_BLOCK, device="cuda", dtype=getattr(torch, name))
        launch = partial(
            multiply_add[(programs,)], out, FMA_STEPS, BLOCK=FMA_BLOCK, UNROLL=FMA_UNROLL
        )
        rates = _rates(torch, launch, operations, partial(clocks.sample, f"fma {name}"))
        samples.append(Sample("fma_throughput", name, "Triton kernel", 0, 0, rates))
    return samples


def _matmuls(torch: Any, properties: Any, clocks: Clocks) -> list[Sample]:
    kinds = {"float16": "float16", "float32": "float32"}
    if (properties.major, properties.minor) >= BFLOAT16_FROM:
        kinds |= {"bfloat16": "bfloat16", "tfloat32": "float32"}
    samples = []
    before = torch.get_float32_matmul_precision()
    for dtype, stored in kinds.items():
        torch.set_float32_matmul_precision("high" if dtype == "tfloat32" else "highest")
        rates = _matmul_rates(
            torch, getattr(torch, stored), partial(clocks.sample, f"matmul {dtype}")
        )
        samples.append(Sample("matmul_throughput", dtype, f"torch.mm {MATMUL_SIZE}³", 0, 0, rates))
    torch.set_float32_matmul_precision(before)
    return samples


def _matmul_rates(torch: Any, dtype: Any, while_busy: Callable[[], None]) -> tuple[float, ...]:
    # Random data: zeros switch fewer transistors, and the clock would stay higher than in real use.
    left, right = (
        torch.randn(MATMUL_SIZE, MATMUL_SIZE, device="cuda", dtype=dtype) for _ in range(2)
    )
    out = torch.empty_like(left)
    call = partial(torch.mm, left, right, out=out)
    return _rates(torch, call, 2.0 * MATMUL_SIZE**3, while_busy)


def _rates(
    torch: Any, call: Callable[[], Any], amount: float, while_busy: Callable[[], None]
) -> tuple[float, ...]:
    """`amount` per second over windows of about WINDOW_MS, REPEATS of them."""
    _elapsed_ms(torch, call, 2, None)
    calls = max(1, int(WINDOW_MS / _elapsed_ms(torch, call, 2, None) * 2))
    times_ms = [_elapsed_ms(torch, call, calls, while_busy) for _ in range(REPEATS)]
    return tuple(amount * calls / (time_ms / 1000) for time_ms in times_ms)


def _elapsed_ms(
    torch: Any, call: Callable[[], Any], calls: int, while_busy: Callable[[], None] | None
) -> float:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(calls):
        call()
    end.record()
    if while_busy:
        while_busy()
    end.synchronize()
    return float(start.elapsed_time(end))


def _versions(torch: Any) -> dict[str, str]:
    import triton

    driver = first_line("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "cuda": str(torch.version.cuda),
        "driver": driver or "not reported",
    }
