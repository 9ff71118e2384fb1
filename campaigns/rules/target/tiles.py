"""Bounds from a kernel's split of the work: intensity of a tile, and waves of blocks (R4).

They bound this split only, not the work itself: see `roofline.physical_floor`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from campaigns.rules.target.roofline import Work
from campaigns.rules.wording import digits


@dataclass(frozen=True, slots=True)
class Waves:
    """Equal blocks on the units (SMs, CUs, cores) of a device.

    blocks_per_unit: how many run on a unit at once and share its rate; None if unknown.
    """

    blocks: int
    units: int
    blocks_per_unit: int | None = None

    def __post_init__(self) -> None:
        for name in ("blocks", "units", "blocks_per_unit"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name}: {value!r}; accepted: 1 or more")

    @property
    def even(self) -> float:
        """Blocks per unit if spread evenly."""
        return self.blocks / self.units

    @property
    def busiest(self) -> int:
        """Blocks of the busiest unit in the best case."""
        return -(-self.blocks // self.units)

    @property
    def quantisation(self) -> float:
        """Time of the busiest unit over that of an even spread, ceil(b/u) / (b/u): 1 or more.

        A unit with fewer blocks than fit at once gives each more of its rate, so `blocks_per_unit`
        does not matter.
        """
        return self.busiest / self.even

    def tile_floor_us(self, floor_us: float) -> float:
        """The least time of one block: its part of the work over one unit's part of the peak.

        floor_us: that of the whole work under the whole peak. A block has the rate of a unit, never
        that of the chip.
        """
        return floor_us * self.units / self.blocks

    def floor_us(self, floor_us: float) -> float:
        """The least time of all blocks: those of the busiest unit, one after the other."""
        return self.busiest * self.tile_floor_us(floor_us)

    @property
    def waves(self) -> float | None:
        """Blocks over those that run at the same time; None if unknown."""
        if self.blocks_per_unit is None:
            return None
        return self.blocks / (self.units * self.blocks_per_unit)

    def words(self, unit: str) -> str:
        """One line: "512 blocks on 132 SMs × 2 = 1.94 waves, 2 full: ×1.03 (…)"."""
        plural = "" if self.units == 1 else "s"
        split = f"{self.blocks:,} block{'' if self.blocks == 1 else 's'} on {self.units} {unit}"
        split += plural
        waves = self.waves
        if waves is not None:
            split += f" × {self.blocks_per_unit} = {digits(waves)} waves, {math.ceil(waves)} full"
        spread = f"{self.busiest:,} on the busiest {unit}, {digits(self.even)} if even"
        return f"{split}: ×{digits(self.quantisation)} ({spread})"


def matmul_tile(rows: int, columns: int, depth: int, element_bytes: int) -> Work:
    """One tile of C = A times B: its rows of A and columns of B read once, the tile written once.

    rows, columns: of the tile. depth: K, the length of the sums. Full tiles; ragged ones do less.
    """
    elements = (rows + columns) * depth + rows * columns
    return Work(2.0 * rows * columns * depth, float(elements * element_bytes))
