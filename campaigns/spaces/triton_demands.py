"""What the launches of a Triton source demand of their knobs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations

from campaigns.spaces.constraints import Demand, DeviceLimits, demand, product_of
from campaigns.spaces.knobs_triton import TritonKnobs, TritonLaunch

# TRITON_MAX_TENSOR_NUMEL in triton/language/core.py.
MOST_ELEMENTS = 1 << 20


def triton_demands(
    found: TritonKnobs, limits: DeviceLimits, element_bytes: int
) -> Iterator[Demand]:
    """What the launches of a Triton source demand."""
    for switch, chosen in found.tuners.items():
        same = " and ".join(f"{name} == {value!r}" for name, value in chosen.items())
        if same:
            reason = "as long as the source's own tuner stays, it is the one that chooses"
            yield demand(f"not {switch} or ({same})", reason, {})
    for text in found.asserted:
        yield demand(text, f"the source asserts {text}", found.variables)
    for launch in found.launches:
        for text in launch.facts.asserted:
            yield demand(text, f"the kernel asserts {text}", launch.bound)
        yield from _thread_demands(launch, limits)
        yield from _tile_demands(launch, limits)
        yield from _shared_demand(launch, limits, element_bytes)


def _thread_demands(launch: TritonLaunch, limits: DeviceLimits) -> Iterator[Demand]:
    warp = limits.threads_per_warp
    if limits.max_warps is not None:
        reason = f"a block has at most {limits.max_warps} warps"
        yield demand(f"num_warps <= {limits.max_warps}", reason, launch.bound)
    if limits.threads_per_block is not None:
        reason = f"a block has at most {limits.threads_per_block} threads"
        text = f"num_warps * {warp} <= {limits.threads_per_block}"
        yield demand(text, reason, launch.bound)
    if limits.registers_per_block is not None:
        reason = f"a block has at most {limits.registers_per_block} registers, so maxnreg is less"
        text = f"maxnreg * num_warps * {warp} <= {limits.registers_per_block}"
        yield demand(text, reason, launch.bound)


def _tile_demands(launch: TritonLaunch, limits: DeviceLimits) -> Iterator[Demand]:
    """Tensors that Triton takes, and sums of products that fit the registers of their threads."""
    facts = launch.facts
    reason = f"a tensor has at most {MOST_ELEMENTS} elements"
    for sides in combinations(facts.extents, min(facts.axes, len(facts.extents))):
        yield demand(f"{product_of(sides)} <= {MOST_ELEMENTS}", reason, launch.bound)
    if facts.sums is None:
        return
    if limits.registers_per_block is not None:
        reason = "the sums of a tile alone need more registers than a block has"
        text = f"{product_of(facts.sums)} < {limits.registers_per_block}"
        yield demand(text, reason, launch.bound)
    if limits.registers_per_thread is not None:
        reason = "the sums of a tile alone need more registers than its threads have"
        each = limits.registers_per_thread * limits.threads_per_warp
        yield demand(f"{product_of(facts.sums)} < num_warps * {each}", reason, launch.bound)


def _shared_demand(
    launch: TritonLaunch, limits: DeviceLimits, element_bytes: int
) -> Iterator[Demand]:
    """The stages of both operands of a product in a loop, which wait in shared memory."""
    facts = launch.facts
    if facts.sums is None or facts.depth is None or limits.shared_bytes_per_block is None:
        return
    rows, columns = facts.sums
    operands = f"(({ast.unparse(rows)}) + ({ast.unparse(columns)})) * ({ast.unparse(facts.depth)})"
    reason = f"the stages of a tile need more than {limits.shared_bytes_per_block} bytes"
    text = f"(num_stages - 1) * {operands} * {element_bytes} <= {limits.shared_bytes_per_block}"
    yield demand(text, reason, launch.bound)
