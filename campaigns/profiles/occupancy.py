"""How many warps of a kernel an SM holds, what limits them, and what the next block needs (R29).

A compute unit of AMD's is an SM here, a wave a warp, a SIMD a partition. What an SM holds comes
from cited values; what is not known limits nothing. The rules are those of CUDA's
occupancy calculator (cuda_occupancy.h) and of LLVM's "AMDGPU Usage".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from campaigns.evaluator.contract import Resources


@dataclass(frozen=True, slots=True)
class SmLimits:
    """What one SM holds; None is unknown.

    registers: of 32 bits, of all partitions together. threads_per_warp: the lanes of a warp.
    register_unit: in what steps a warp gets registers, counted over its lanes. shared_unit,
    shared_reserved: in what steps a block gets shared bytes, and what each loses of them.
    """

    warps: int | None = None
    blocks: int | None = None
    registers: int | None = None
    shared_bytes: int | None = None
    threads_per_warp: int | None = None
    partitions: int | None = None
    register_unit: int | None = None
    shared_unit: int | None = None
    shared_reserved: int | None = None


@dataclass(frozen=True, slots=True)
class Occupancy:
    """blocks, warps: on an SM at once. by: what limits → how many blocks it allows."""

    blocks: int
    warps: int
    most_warps: int
    by: Mapping[str, int]
    next_step: str = ""

    @property
    def share(self) -> float:
        return self.warps / self.most_warps

    @property
    def limiter(self) -> str:
        """What allows the fewest blocks; the first of several in their order."""
        return min(self.by, key=self.by.__getitem__)


def occupancy(used: Resources, limits: SmLimits) -> Occupancy | None:
    """None where the block's threads, or the warps of an SM, are not known."""
    found = _fitting(used, limits)
    if found is None or found.warps >= found.most_warps:
        return found
    return replace(found, next_step=_next_step(used, limits, found))


def _fitting(used: Resources, limits: SmLimits) -> Occupancy | None:
    if not (used.threads and limits.warps and limits.threads_per_warp):
        return None
    block_warps = -(-used.threads // limits.threads_per_warp)
    by = {"warps": limits.warps // block_warps}
    if used.registers and limits.registers:
        by["registers"] = _warps_by_registers(used.registers, limits) // block_warps
    if limits.shared_bytes and used.shared_bytes is not None:
        taken = used.shared_bytes + (limits.shared_reserved or 0)
        if taken:
            by["shared memory"] = limits.shared_bytes // _up(taken, limits.shared_unit or 1)
    if limits.blocks:
        by["blocks"] = limits.blocks
    blocks = min(by.values())
    return Occupancy(blocks, blocks * block_warps, limits.warps, by)


def _warps_by_registers(registers: int, limits: SmLimits) -> int:
    """Each partition has its own part of the registers, and holds whole warps."""
    partitions = limits.partitions or 1
    of_warp = _up(registers * (limits.threads_per_warp or 1), limits.register_unit or 1)
    return (limits.registers or 0) // partitions // of_warp * partitions


def _next_step(used: Resources, limits: SmLimits, now: Occupancy) -> str:
    """The largest change that fits one more block; "" where the limiter cannot be lowered."""
    if now.limiter == "registers" and used.registers:
        for registers in range(used.registers - 1, 0, -1):
            found = _fitting(replace(used, registers=registers), limits)
            if found and found.by["registers"] > now.by["registers"]:
                return f"{registers} registers a thread fit {_more(found, now)}"
    if now.limiter == "shared memory" and limits.shared_bytes:
        unit = limits.shared_unit or 1
        room = limits.shared_bytes // (now.by["shared memory"] + 1) // unit * unit
        shared_bytes = room - (limits.shared_reserved or 0)
        if shared_bytes >= 0:
            found = _fitting(replace(used, shared_bytes=shared_bytes), limits)
            return f"{shared_bytes:,} bytes of shared memory a block fit {_more(found, now)}"
    if now.limiter == "blocks":
        return "larger blocks, since an SM holds no more of them"
    return ""


def _more(found: Occupancy | None, now: Occupancy) -> str:
    # Another limit may stop it before.
    blocks = found.blocks if found else now.blocks
    if blocks <= now.blocks:
        return "more, were it not for the other limits"
    return f"{blocks} blocks in place of {now.blocks}"


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
