"""Ceilings of a CPU: a small C++ probe, compiled for this machine and run as a process."""

from __future__ import annotations

import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from campaigns.evaluator.ceilings.choice import (
    COLD_CACHES,
    BusyWatch,
    Chosen,
    choose,
    swept,
    watched,
)
from campaigns.evaluator.ceilings.result import CeilingsError, Result, Sample
from campaigns.evaluator.host import (
    cpu_clocks_mhz,
    cpu_name,
    cpus_usable,
    first_line,
    last_level_cache_bytes,
    memory_available_bytes,
)

PROBE = Path(__file__).with_name("probe.cpp")
FLAGS = ("-O3", "-march=native", "-fopenmp")
COMPILERS = ("g++", "clang++")
MIB = 2**20
LEAST_MIB = 4
LARGEST_MIB = 512
# What a thread of the probe moves at a time (kChunk).
CHUNK_BYTES = 64 * 1024
# All arrays may take this share of the free memory.
MEMORY_SHARE = 8
COMPILE_LIMIT_S = 60
RUN_LIMIT_S = 120
DTYPES = ("float32", "float64", "bfloat16", "float16")
# The largest whose single product stays below LONGEST_S: some CPUs have no unit for a dtype.
SIZES = (1024, 512, 256)
LONGEST_S = 0.05
# Short, and many: a neighbour stops all threads of a product, and some windows have to escape it.
WINDOW_S = 0.01
REPEATS = 10


def measure_cpu(
    where: Mapping[str, str], *, rounds: int = 3, repeats: int = 2, largest_mib: int | None = None
) -> Result:
    """Compile the probe, run it and choose the ceilings. Takes about 15 s.

    where: what the result says of the run itself. repeats: of every measurement in each round.
    largest_mib: of all arrays, from the host if None. Raises CeilingsError when there is no
    compiler or the probe fails.
    """
    cache_bytes = last_level_cache_bytes()
    largest = largest_mib or _largest_mib(cache_bytes, memory_available_bytes())
    before = cpu_clocks_mhz()
    with watched() as watch:
        # Twice, so that a busy moment spoils one of them only.
        first, matmul_notes = measure_matmuls()
        compiler, text = _probe(largest, rounds, repeats)
        second, _ = measure_matmuls()
    samples = (*read_probe(text), *first, *second)
    ceilings, notes = choose(samples, cache_bytes)
    chosen = (ceilings, (*notes, *matmul_notes))
    return _result(where, samples, chosen, watch, compiler, before)


def measure_cpu_copy(
    where: Mapping[str, str], array_bytes: int, *, rounds: int = 3, repeats: int = 4
) -> Result:
    """Copies between two arrays of this size alone, rounded up to whole chunks; takes seconds.

    Raises CeilingsError, also where both take more than half of the free memory.
    """
    size = -(-array_bytes // CHUNK_BYTES) * CHUNK_BYTES
    largest_mib = LEAST_MIB
    while largest_mib * MIB < 2 * size:
        largest_mib *= 2
    available = memory_available_bytes()
    if available and 4 * size > available:
        raise CeilingsError(f"{2 * size:,} bytes: only {available:,} bytes of memory are free")
    before = cpu_clocks_mhz()
    with watched() as watch:
        compiler, text = _probe(largest_mib, rounds, repeats, size)
    samples = read_probe(text)
    chosen = (swept(samples, last_level_cache_bytes()), ())
    return _result(where, samples, chosen, watch, compiler, before)


def _result(
    where: Mapping[str, str],
    samples: tuple[Sample, ...],
    chosen: Chosen,
    watch: BusyWatch,
    compiler: str,
    before: list[float],
) -> Result:
    """before: the clocks in MHz when the measurement began; those after it are read now."""
    ceilings, notes = chosen
    versions = {
        "python": platform.python_version(),
        "kernel": platform.release(),
        Path(compiler).name: first_line(compiler, "--version"),
        "flags": " ".join(FLAGS),
    }
    clocks = {"cpus usable": str(cpus_usable()), "cpu": cpu_name()}
    for when, mhz in (("before", before), ("after", cpu_clocks_mhz())):
        clocks[f"cpu clock {when}"] = f"{min(mhz):g} to {max(mhz):g} MHz" if mhz else "not reported"
    return Result(
        **where,
        name=cpu_name(),
        versions=versions,
        clocks=clocks,
        samples=samples,
        ceilings=ceilings,
        notes=(*watch.notes, *notes),
        busy_share=watch.others_share,
    )


def read_probe(text: str) -> tuple[Sample, ...]:
    """The probe's lines as samples, rounds joined. CeilingsError names a line it cannot read."""
    rates: dict[tuple[str, str, str, int, int], list[float]] = {}
    for line in text.splitlines():
        try:
            metric, dtype, method, threads, array_bytes, *found = line.split()
            key = (metric, dtype.strip("-"), method, int(threads), int(array_bytes))
            rates.setdefault(key, []).extend(map(float, found))
        except ValueError:
            raise CeilingsError(f"probe: '{line:.80}' does not read as a measurement") from None
    if not rates:
        raise CeilingsError("probe: it printed nothing")
    return tuple(Sample(*key, tuple(found)) for key, found in rates.items())


def _largest_mib(cache_bytes: int, available_bytes: int) -> int:
    """What all arrays may use at most: on the plateau if memory allows, always a power of two."""
    wanted = LARGEST_MIB
    while wanted * MIB < cache_bytes * COLD_CACHES:
        wanted *= 2
    while wanted > LEAST_MIB and available_bytes and wanted * MIB * MEMORY_SHARE > available_bytes:
        wanted //= 2
    return wanted


def _probe(
    largest_mib: int, rounds: int, repeats: int, array_bytes: int | None = None
) -> tuple[str, str]:
    """The compiler that was used, and what the probe printed. array_bytes: copies of it alone."""
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        raise CeilingsError(f"no C++ compiler; install one of: {', '.join(COMPILERS)}")
    with tempfile.TemporaryDirectory(prefix="kopt-ceilings-") as scratch:
        program = str(Path(scratch) / "probe")
        _run([compiler, *FLAGS, str(PROBE), "-o", program], COMPILE_LIMIT_S)
        only = (array_bytes,) if array_bytes else ()
        words = map(str, (largest_mib, rounds, repeats, *only))
        return compiler, _run([program, *words], RUN_LIMIT_S)


def _run(command: list[str], limit_s: float) -> str:
    name = Path(command[0]).name
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=True)
    except subprocess.TimeoutExpired:
        raise CeilingsError(f"{name}: not done after {limit_s:g} s") from None
    except subprocess.CalledProcessError as error:
        said = (error.stderr.strip().splitlines() or ["it said nothing"])[0]
        raise CeilingsError(f"{name}: exit {error.returncode}: {said}") from None
    except OSError as error:
        raise CeilingsError(f"{name}: {error.strerror}") from None
    return done.stdout


def measure_matmuls() -> tuple[tuple[Sample, ...], tuple[str, ...]]:
    """The rates per dtype, and a note where torch is not installed."""
    try:
        import torch
    except ImportError:
        return (), ("torch is not installed: matrix products were not measured",)
    return tuple(_sample(torch, dtype) for dtype in DTYPES), ()


def _sample(torch: Any, dtype: str) -> Sample:
    for size in SIZES:
        left, right = (torch.randn(size, size).to(getattr(torch, dtype)) for _ in range(2))
        call = partial(torch.mm, left, right, out=torch.empty_like(left))
        # The first call also builds the kernel.
        fastest_s = min(_elapsed_s(call, 1) for _ in range(3))
        if fastest_s <= LONGEST_S:
            break
    calls = max(1, int(WINDOW_S / fastest_s))
    times_s = [_elapsed_s(call, calls) for _ in range(REPEATS)]
    rates = tuple(2.0 * size**3 * calls / time_s for time_s in times_s)
    threads = torch.get_num_threads()
    return Sample("matmul_throughput", dtype, f"torch.mm {size}³", threads, 0, rates)


def _elapsed_s(call: Callable[[], Any], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return time.perf_counter() - start
