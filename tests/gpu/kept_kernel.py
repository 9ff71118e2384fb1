"""A Triton kernel that reads with the hint that the cache should keep the lines for longest."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def read_last(lines, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(lines + at, eviction_policy="evict_last"), 0)
    # Never so, and not to be left out for that.
    tl.store(out, total, mask=total == -1.0)
