"""Empty caches before a burst, so that its calls find their inputs in memory, as in real use."""

from __future__ import annotations

import ctypes
import mmap
import platform
from collections.abc import Callable
from pathlib import Path

import torch

from campaigns.evaluator import cuda_driver

# Takes the caches from [slots, bytes], which lie in a ring of so many bytes.
Cool = Callable[[torch.Tensor, int], None]

# A ring of slots below this many times the last-level cache may stay in it, so that is scrubbed.
COLD_RING = 4
# How many times a cache's size has to be written to fill it with something else.
SCRUBBED = 2
# More than the caches hold that a core has to itself.
INNER_BYTES = 16 << 20
# void flush(char *at, char *end) { do { clflushopt(at); at += 64; } while (at < end); mfence(); }
FLUSH = bytes.fromhex("660fae3f 4883c740 4839f7 72f3 0faef0 c3")


def cooling(device: torch.device, cache_bytes: int) -> Cool:
    """What empties the caches of slots before a burst on a device with such a last-level cache.

    Some hosts' are half a gigabyte, and writing as much takes longer than all else about a burst;
    so their lines are flushed where the processor can. Otherwise other memory is written until
    nothing else is cached. On a GPU kernels may have the cache keep lines, which no other access
    then drives out; so it is told to treat them as any, and emptied however large the ring is.
    """
    on_gpu = device.type == "cuda"
    page = None if on_gpu else _flush_page()
    if page is not None:
        return _flushing(page)
    memory = torch.zeros(SCRUBBED * cache_bytes, dtype=torch.uint8, device=device)

    def scrub(rows: torch.Tensor, ring_bytes: int) -> None:
        if on_gpu:
            cuda_driver.release_cache()
        if on_gpu or ring_bytes < COLD_RING * cache_bytes:
            memory.add_(1)

    return scrub


def _flushing(page: mmap.mmap) -> Cool:
    """Flushes the lines of the rows, and scrubs the small caches, which hold code and tables."""
    code = (ctypes.c_char * len(FLUSH)).from_buffer(page)
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
    inner = torch.zeros(INNER_BYTES, dtype=torch.uint8)

    def flush(rows: torch.Tensor, ring_bytes: int) -> None:
        inner.add_(1)
        # The page is kept: one that was given back could hold anything.
        kind(ctypes.addressof(code))(rows.data_ptr(), rows.data_ptr() + rows.numel())

    return flush


def _flush_page() -> mmap.mmap | None:
    """The instructions, ready to run; None where the processor or the host does not allow it."""
    known = Path("/proc/cpuinfo")
    if platform.machine() != "x86_64" or "clflushopt" not in known.read_text("utf-8", "replace"):
        return None
    try:
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:
        return None
    page.write(FLUSH)
    return page
