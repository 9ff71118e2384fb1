"""What a kernel's own split of the work allows: intensity of a tile, and waves of blocks (R4).

A bound on this split, never the physical floor of the work: see `roofline.physical_floor`.
"""

from __future__ import annotations

from dataclasses import dataclass

from campaigns.rules.roofline import Placement, Unknown, Work, place
from campaigns.rules.wording import digits, duration
from knowledge.specs.cited import Cited


@dataclass(frozen=True, slots=True)
class Tiling:
    """Equal tiles, one for each block, on the units (SMs, CUs, cores) of a device.

    tile: operations of one block, and the bytes that it moves, those that others move too included.
    blocks_per_unit: how many run on a unit at once; they share its rate.
    """

    tile: Work
    blocks: int
    units: int
    blocks_per_unit: int = 1

    def __post_init__(self) -> None:
        for name in ("blocks", "units", "blocks_per_unit"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: {getattr(self, name)!r}; accepted: 1 or more")

    @property
    def work(self) -> Work:
        """All tiles together."""
        return Work(self.tile.flops * self.blocks, self.tile.bytes * self.blocks)

    @property
    def slots(self) -> int:
        """Blocks that run at the same time."""
        return self.units * self.blocks_per_unit

    @property
    def waves(self) -> int:
        """Rounds of blocks, the last one perhaps not full."""
        return -(-self.blocks // self.slots)

    @property
    def quantisation(self) -> float:
        """Time of whole waves over time of evenly spread work, ceil(b/u) / (b/u): 1 or more."""
        return self.waves * self.slots / self.blocks


@dataclass(frozen=True, slots=True)
class TimeBound:
    """The least time of one call with this tiling, and the most that it lets through.

    placement: all tiles under the ceilings, as if they were spread evenly.
    """

    tiling: Tiling
    placement: Placement

    @property
    def time_us(self) -> float:
        return self.placement.floor_us * self.tiling.quantisation

    @property
    def flops_per_s(self) -> float:
        """At most the peak, because the roof is and no tiling makes it higher."""
        return self.placement.attainable_flops_per_s / self.tiling.quantisation

    @property
    def bytes_per_s(self) -> float:
        """At most the bandwidth, for the same reason."""
        return self.placement.attainable_bytes_per_s / self.tiling.quantisation

    @property
    def arithmetic(self) -> str:
        """The bound in words."""
        tiling = self.tiling
        waves = f"{tiling.waves} wave{'s' if tiling.waves > 1 else ''}"
        split = f"{tiling.blocks} blocks on {tiling.slots} = {waves}"
        even = duration(self.placement.floor_us)
        return f"{even} × {digits(tiling.quantisation)} ({split}) = {duration(self.time_us)}"


def time_bound(
    tiling: Tiling, bandwidth: Cited | None, compute: Cited | None
) -> TimeBound | Unknown:
    """Bound a call by its tiling; Unknown names the ceilings (B/s, op/s) that are missing.

    A unit has its share of each ceiling, so whole waves cost `quantisation` times the even spread.
    """
    placement = place(tiling.work, bandwidth, compute)
    if isinstance(placement, Unknown):
        return placement
    return TimeBound(tiling, placement)
