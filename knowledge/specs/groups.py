"""Which part of a sheet a metric belongs to."""

from __future__ import annotations

from enum import StrEnum

from knowledge.specs.metrics import METRICS


class Group(StrEnum):
    """The parts of a sheet, in the order in which they are read."""

    MEMORY = "Memory"
    PEAKS = "Peak rates"
    UNITS = "Units and limits"
    CACHES = "Caches and on-chip memory"
    LINKS = "Links and power"
    MEASURED = "Measured"


# The first part that knows the start of a name takes it; what none knows is a unit or a limit.
STARTS = {
    Group.MEMORY: ("memory_",),
    Group.PEAKS: ("peak_", "boost_clock", "fp32_to_fp64", "mfma_"),
    Group.CACHES: (
        *("l1_", "l2_", "l3_", "infinity_cache", "unified_l1", "lds_", "smem_", "max_smem"),
        *("register_file", "vgpr_file", "sgpr_file"),
    ),
    Group.LINKS: ("nvlink", "pcie", "infinity_fabric", "tdp"),
}
ORDER = tuple(Group)


def group_of(metric: str) -> Group:
    """The part of a sheet in which a metric stands; a metric that nobody registered is a unit."""
    known = METRICS.get(metric)
    if known is not None and known.meaning.startswith("measured"):
        return Group.MEASURED
    begun = (group for group, starts in STARTS.items() if metric.startswith(starts))
    return next(begun, Group.UNITS)
