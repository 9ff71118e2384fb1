"""Ridges: the intensity above which compute, not memory, is the limit (R4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from campaigns.rules.target.roofline import choose_ceiling
from campaigns.rules.wording import digits
from knowledge.specs.cited import UNKNOWN, Cited


class MemoryLevel(StrEnum):
    """The source of the bytes. For caches: the best rate over arrays that fit in them."""

    DRAM = "dram"
    CACHE = "cache"


@dataclass(frozen=True, slots=True)
class Ridge:
    """One dtype and one memory level, with the two ceilings behind the ridge."""

    dtype: str
    level: MemoryLevel
    bandwidth: Cited | None
    compute: Cited | None

    @property
    def flops_per_byte(self) -> float | None:
        """None if one of the ceilings is unknown."""
        if self.bandwidth is None or self.compute is None:
            return None
        return self.compute.value / self.bandwidth.value

    @property
    def text(self) -> str:
        """The ridge with its arithmetic, or UNKNOWN."""
        ridge = self.flops_per_byte
        if ridge is None or self.bandwidth is None or self.compute is None:
            return UNKNOWN
        return f"{self.compute.display} ÷ {self.bandwidth.display} = {digits(ridge)} op/B"


def ridges(
    computes: Mapping[str, Iterable[Cited]], bandwidths: Mapping[MemoryLevel, Iterable[Cited]]
) -> tuple[Ridge, ...]:
    """Every dtype with every level; missing ones stay in the list as UNKNOWN."""
    found = {level: choose_ceiling(ceilings) for level, ceilings in bandwidths.items()}
    return tuple(
        Ridge(dtype, level, bandwidth, choose_ceiling(ceilings))
        for dtype, ceilings in ((name, tuple(items)) for name, items in computes.items())
        for level, bandwidth in found.items()
    )
