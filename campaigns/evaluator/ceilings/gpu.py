"""Ceilings of a CUDA device, through torch and one Triton kernel, on CUDA's own events."""

from __future__ import annotations

import platform
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from campaigns.evaluator.ceilings.choice import ARRAYS, COLD_CACHES, Chosen, choose, swept
from campaigns.evaluator.ceilings.result import BURST, SUSTAINED, CeilingsError, Result, Sample
from campaigns.evaluator.host import first_line

MIB = 2**20
SMALLEST_MIB = 8
# Where the size of the last-level cache is not known, one array has to reach this.
PLATEAU_MIB = 64
LARGEST_MIB = 4096
# Two arrays may take half of the free memory.
MEMORY_SHARE = 4
MATMUL_SIZE = 8192
REPEATS = 20
WINDOW_MS = 10.0
# A card that multiplies matrices is throttled to its power limit within a tenth of a second. The
# judge times bursts of WINDOW_MS with the card nearly idle between them, so that is one kind of
# product; the other follows SETTLE_MS of work without a pause.
REST_S = 0.05
SETTLE_MS = 1500.0
SUSTAINED_MS = 50.0
LOADS = {
    BURST: f"bursts of {WINDOW_MS:g} ms after {REST_S * 1000:g} ms of rest",
    SUSTAINED: f"after {SETTLE_MS / 1000:g} s without a pause",
}
FMA_BLOCK = 1024
FMA_UNROLL = 32
FMA_STEPS = 512
# An array takes this part of the last-level cache, so that a copy's two fill half of it.
CACHE_PARTS = 4
CACHE_BLOCK = 4096
CACHE_PASSES = 64
CACHE_STRIDE = 389
# Programs of four warps for each multiprocessor: enough to hide every latency.
FMA_PROGRAMS_PER_SM = 16


def measure_gpu(index: int, where: Mapping[str, str]) -> Result:
    """Measure `cuda:<index>`; takes about 50 s. `where` is what the result says of the run itself.

    Raises CeilingsError when torch sees no such device.
    """
    torch = _torch(index)
    properties = torch.cuda.get_device_properties(index)
    clocks = Clocks(torch, index)
    cache_bytes = getattr(properties, "L2_cache_size", 0)
    samples = _traffic(torch, index, cache_bytes, clocks)
    samples += _cached(torch, cache_bytes, clocks)
    samples += _multiply_adds(torch, properties, clocks)
    products, refused = _matmuls(torch, properties, clocks)
    samples += products
    ceilings, notes = choose(samples, cache_bytes)
    return _result(torch, properties, where, clocks, samples, (ceilings, (*notes, *refused)))


def measure_gpu_copy(index: int, where: Mapping[str, str], array_bytes: int) -> Result:
    """Copies between two arrays of this size alone, rounded up to whole float32; takes seconds.

    Raises CeilingsError, also where both take more than half of the free memory.
    """
    torch = _torch(index)
    size = -(-array_bytes // 4) * 4
    free, _ = torch.cuda.mem_get_info(index)
    if size * MEMORY_SHARE > free:
        raise CeilingsError(f"cuda:{index}: {2 * size:,} bytes: only {free:,} bytes are free")
    properties, clocks = torch.cuda.get_device_properties(index), Clocks(torch, index)
    samples = _moves(torch, size, ("copy",), clocks)
    ceilings = swept(samples, getattr(properties, "L2_cache_size", 0))
    small = size < SMALLEST_MIB * MIB
    notes = (f"arrays of under {SMALLEST_MIB} MiB: launches take a part of the time",) * small
    return _result(torch, properties, where, clocks, samples, (ceilings, notes))


def _result(
    torch: Any,
    properties: Any,
    where: Mapping[str, str],
    clocks: Clocks,
    samples: list[Sample],
    chosen: Chosen,
) -> Result:
    ceilings, notes = chosen
    import triton

    driver = first_line("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")
    versions = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "cuda": str(torch.version.cuda),
        "driver": driver or "not reported",
    }
    return Result(
        **where,
        name=properties.name,
        versions=versions,
        clocks=clocks.summary(),
        samples=tuple(samples),
        ceilings=ceilings,
        notes=notes,
        busy_share=None,
    )


class Clocks:
    """Multiprocessor clocks, power, and what holds clocks down, sampled while the device works."""

    def __init__(self, torch: Any, index: int) -> None:
        self._torch = torch
        self._index = index
        self._seen: dict[str, list[tuple[int, float, tuple[str, ...]]]] = {}
        self.missing = ""

    def sample(self, label: str) -> None:
        """Read the clock now; call it after work was queued and before waiting for it."""
        try:
            mhz = int(self._torch.cuda.clock_rate(self._index))
            watts = self._torch.cuda.power_draw(self._index) / 1000
            # Late: it needs the driver's management library.
            from campaigns.evaluator.service.host_watch import throttled

            held = throttled(self._torch.device("cuda", self._index))
        except (RuntimeError, ImportError) as error:
            self.missing = f"not reported: {error!s:.80}"
            return
        self._seen.setdefault(label, []).append((mhz, watts, held))

    def summary(self) -> dict[str, str]:
        """What was seen of each label."""
        rows = {f"clock, {label}": self.words(label) for label in self._seen}
        return rows or {"clocks": self.missing or "not sampled"}

    def words(self, label: str) -> str:
        """The range of clocks, the highest power, and each reason for a low clock with its count.

        Such as "1410 to 1980 MHz, at most 675 W, power cap in 12 of 20"; "" for what was not seen.
        """
        if label not in self._seen:
            return ""
        clocks, powers, held = zip(*self._seen[label], strict=True)
        reasons = Counter(reason for reasons in held for reason in reasons)
        parts = [f"{min(clocks)} to {max(clocks)} MHz", f"at most {max(powers):.0f} W"]
        parts += [f"{reason} in {n} of {len(held)}" for reason, n in reasons.items()]
        return ", ".join(parts)


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


def _traffic(torch: Any, index: int, cache_bytes: int, clocks: Clocks) -> list[Sample]:
    """Copies, reads and writes, from arrays inside the last-level cache to far beyond it."""
    free, _ = torch.cuda.mem_get_info(index)
    largest = min(LARGEST_MIB * MIB, free // MEMORY_SHARE)
    if largest < (COLD_CACHES * cache_bytes or PLATEAU_MIB * MIB):
        raise CeilingsError(f"cuda:{index}: {free / MIB:.0f} MiB free; too little for two arrays")
    samples = []
    size = SMALLEST_MIB * MIB
    while size <= largest:
        samples += _moves(torch, size, ("copy", "read", "write"), clocks)
        size *= 2
    return samples


def _moves(torch: Any, size: int, kinds: tuple[str, ...], clocks: Clocks) -> list[Sample]:
    """Passes over arrays of `size` bytes, each kind in every way that torch has."""
    source = torch.rand(size // 4, device="cuda")
    target = torch.empty_like(source)
    methods: tuple[tuple[str, str, Callable[[], Any]], ...] = (
        ("copy", "driver copy", partial(target.copy_, source)),
        ("copy", "element-wise kernel", partial(torch.mul, source, 1.0, out=target)),
        ("read", "sum", partial(torch.sum, source)),
        ("write", "fill", partial(target.fill_, 1.0)),
    )
    samples = []
    for kind, method, call in methods:
        if kind in kinds:
            metric, sampled = f"{kind}_bandwidth", partial(clocks.sample, f"{kind} of arrays")
            rates = _rates(torch, call, float(ARRAYS[metric] * size), sampled)
            samples.append(Sample(metric, "", method, 0, size, rates))
    return samples


def _cached(torch: Any, cache_bytes: int, clocks: Clocks) -> list[Sample]:
    """Reads, writes and copies inside the last-level cache; none where its size is not known."""
    # Late: the kernel's module imports triton.
    from campaigns.evaluator.ceilings import gpu_kernels

    blocks = cache_bytes // CACHE_PARTS // (4 * CACHE_BLOCK)
    if not blocks:
        return []
    x, y = (torch.rand(blocks * CACHE_BLOCK, device="cuda") for _ in range(2))
    samples = []
    ways = {"read": gpu_kernels.READ, "write": gpu_kernels.WRITE, "copy": gpu_kernels.COPY}
    for kind, way in ways.items():
        launch = partial(
            gpu_kernels.pass_over[(blocks,)],
            *(x, y, CACHE_PASSES),
            STRIDE=CACHE_STRIDE,
            WAY=way,
            BLOCK=CACHE_BLOCK,
            num_warps=8,
        )
        size, metric = 4 * blocks * CACHE_BLOCK, f"{kind}_bandwidth"
        moved = float(ARRAYS[metric] * size * CACHE_PASSES)
        rates = _rates(torch, launch, moved, partial(clocks.sample, f"{kind} inside the cache"))
        method = f"Triton kernel, {CACHE_PASSES} passes a launch"
        samples.append(Sample(metric, "", method, 0, size, rates))
    return samples


def _multiply_adds(torch: Any, properties: Any, clocks: Clocks) -> list[Sample]:
    # Late: the kernel's module imports triton.
    from campaigns.evaluator.ceilings.gpu_kernels import multiply_add

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


def _matmuls(torch: Any, properties: Any, clocks: Clocks) -> tuple[list[Sample], list[str]]:
    """The samples, and a note on every dtype that the card should have and the library refuses."""
    capability = (properties.major, properties.minor)
    before = torch.get_float32_matmul_precision()
    samples, refused = [], []
    for dtype, (since, prepare, parts) in PRODUCTS.items():
        if capability < since:
            continue
        torch.set_float32_matmul_precision("high" if dtype == "tfloat32" else "highest")
        size = MATMUL_SIZE // parts
        try:
            product = prepare(torch, size)
            for load, how in LOADS.items():
                label = f"matmul {dtype} {load}"
                sampled = partial(clocks.sample, label)
                rates = _rates(torch, product, 2.0 * size**3, sampled, load)
                method = ", ".join(filter(None, (f"torch {size}³", how, clocks.words(label))))
                samples.append(Sample("matmul_throughput", dtype, method, 0, 0, rates, load))
        except RuntimeError as error:
            said = str(error).partition("\n")[0]
            refused.append(f"matmul {dtype}: not measured: {said:.120}")
    torch.set_float32_matmul_precision(before)
    return samples, refused


def _plain_product(stored: str, torch: Any, size: int) -> Callable[[], Any]:
    # Random data: zeros switch fewer transistors, and the clock would stay higher than in real use.
    left, right = (
        torch.randn(size, size, device="cuda", dtype=getattr(torch, stored)) for _ in range(2)
    )
    return partial(torch.mm, left, right, out=torch.empty_like(left))


def _float8_product(torch: Any, size: int) -> Callable[[], Any]:
    left, right = (
        torch.randn(size, size, device="cuda", dtype=torch.bfloat16).to(torch.float8_e4m3fn)
        for _ in range(2)
    )
    scale = torch.ones((), device="cuda", dtype=torch.float32)
    # The library takes the right matrix by columns only.
    product = partial(torch._scaled_mm, left, right.t(), scale, scale)
    return partial(product, out_dtype=torch.bfloat16, use_fast_accum=True)


def _int8_product(torch: Any, size: int) -> Callable[[], Any]:
    left, right = (
        torch.randint(-128, 128, (size, size), device="cuda", dtype=torch.int8) for _ in range(2)
    )
    return partial(torch._int_mm, left, right.t())


# dtype → compute capability that has it, how a product is prepared, and into how many parts each
# side of the matrices is cut: on some cards float64 is 64 times slower than float32.
PRODUCTS: Mapping[str, tuple[tuple[int, int], Callable[[Any, int], Callable[[], Any]], int]] = {
    "float16": ((7, 0), partial(_plain_product, "float16"), 1),
    "bfloat16": ((8, 0), partial(_plain_product, "bfloat16"), 1),
    "tfloat32": ((8, 0), partial(_plain_product, "float32"), 1),
    "float32": ((0, 0), partial(_plain_product, "float32"), 1),
    "float64": ((0, 0), partial(_plain_product, "float64"), 2),
    "float8_e4m3fn": ((8, 9), _float8_product, 1),
    "int8": ((8, 0), _int8_product, 1),
}


def _rates(
    torch: Any,
    call: Callable[[], Any],
    amount: float,
    while_busy: Callable[[], None],
    load: str = "",
) -> tuple[float, ...]:
    """`amount` per second over windows of about WINDOW_MS, REPEATS of them.

    load: BURST rests before each, SUSTAINED works for SETTLE_MS first and takes longer windows.
    """
    window_ms = SUSTAINED_MS if load == SUSTAINED else WINDOW_MS
    _elapsed_ms(torch, call, 2, None)
    calls = max(1, int(window_ms / _elapsed_ms(torch, call, 2, None) * 2))
    left_ms = SETTLE_MS if load == SUSTAINED else 0.0
    while left_ms > 0:
        left_ms -= _elapsed_ms(torch, call, calls, None)
    times_ms = []
    for _ in range(REPEATS):
        time.sleep(REST_S if load == BURST else 0.0)
        times_ms.append(_elapsed_ms(torch, call, calls, while_busy))
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
