"""What the launches of a Triton source demand of their knobs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations

from campaigns.spaces.constraints import Demand, DeviceLimits, demand, product_of
from campaigns.spaces.expressions import python_expression
from campaigns.spaces.triton.knobs import TritonKnobs, TritonLaunch

# TRITON_MAX_TENSOR_NUMEL in triton/language/core.py.
MOST_ELEMENTS = 1 << 20
# Beyond it code outgrows instruction caches, and a compiler works on it for ten seconds to minutes.
MOST_UNROLLED = 4096
SINGLE_BYTES = 4


def triton_demands(
    found: TritonKnobs, limits: DeviceLimits, element_bytes: int
) -> Iterator[Demand]:
    """What the launches of a Triton source demand."""
    for switch, chosen in found.tuners.items():
        same = " and ".join(f"{name} == {value!r}" for name, value in chosen.items())
        if same:
            reason = "as long as the source's own tuner stays, it is the one that chooses"
            yield Demand(python_expression(f"not {switch} or ({same})"), reason)
    for text in found.asserted:
        yield demand(text, f"the source asserts {text}", found.variables)
    for launch in found.launches:
        for text in launch.facts.asserted:
            yield demand(text, f"the kernel asserts {text}", launch.bound)
        yield from _thread_demands(launch, limits)
        yield from _tile_demands(launch, limits)
        yield from _shared_demand(launch, limits, element_bytes)
        if launch.facts.is_exact and element_bytes >= SINGLE_BYTES:
            yield from _unrolled_demand(launch, limits)


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
        reason = f"maxnreg allows more than the {limits.registers_per_block} registers of a block"
        text = f"maxnreg * num_warps * {warp} <= {limits.registers_per_block}"
        yield demand(text, reason, launch.bound)


def _tile_demands(launch: TritonLaunch, limits: DeviceLimits) -> Iterator[Demand]:
    """Tensors that Triton takes, and sums of products that fit the registers of their threads."""
    facts = launch.facts
    reason = f"a tensor has at most {MOST_ELEMENTS} elements"
    for sides in combinations(facts.extents, min(facts.axes, len(facts.extents))):
        yield demand(f"{product_of(sides)} <= {MOST_ELEMENTS}", reason, launch.bound)
    if facts.sums is None or not (limits.sums_in_registers or facts.is_exact):
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
    """The stages of both operands of a product in a loop, which wait in shared memory.

    Triton 3.7 holds one stage fewer than it is told, or just as many where the units that multiply
    read shared memory themselves: this is the lesser, so that nothing is refused that runs.
    """
    facts = launch.facts
    if facts.sums is None or facts.depth is None or limits.shared_bytes_per_block is None:
        return
    rows, columns = facts.sums
    most = limits.shared_bytes_per_block
    operands = f"(({ast.unparse(rows)}) + ({ast.unparse(columns)})) * ({ast.unparse(facts.depth)})"
    reason = f"the stages of a tile need more than {most} bytes of shared memory"
    for stages in ("(num_stages - 1) * ", ""):
        yield demand(f"{stages}{operands} * {element_bytes} <= {most}", reason, launch.bound)


def _unrolled_demand(launch: TritonLaunch, limits: DeviceLimits) -> Iterator[Demand]:
    """What a thread multiplies in one turn of a loop, where no matrix unit does: all unrolled."""
    facts = launch.facts
    if facts.sums is not None and facts.depth is not None:
        reason = f"a turn of the loop is more than {MOST_UNROLLED} multiply-adds of each thread"
        each = limits.threads_per_warp * MOST_UNROLLED
        text = f"{product_of((*facts.sums, facts.depth))} <= num_warps * {each}"
        yield demand(text, reason, launch.bound)
