"""AMD's counters, as rocprofv3 names them, and what follows from them by formula (R24, R30).

Counters are the derived and basic ones of rocprofiler-sdk for CDNA 2 to 4 (MI200 to MI350 series;
counter_defs.yaml), resources are columns of its counter_collection.csv, stalls are cycles of its
thread trace. A name that NVIDIA's registry has as well means the same here, with work-groups for
blocks, compute units for SMs and waves for warps. Two are near, no more: memory_pct is the address
unit's busy time with its waiting, where ncu has a share of throughput; shared_passes are cycles.
ROCm/rocprofiler's issue 147 calls MfmaUtil incorrect.

Bounds are those of Primus-Turbo's guidance (occupancy, matrix pipe, bandwidth, bank conflicts,
spills) and, of divergence, ncu's for a warp; those of stalled units are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from campaigns.evaluator.contract import Resources
from campaigns.profiles.kernel_profile import Metric, Unit
from campaigns.profiles.occupancy import Occupancy, SmLimits, occupancy

DURATION, GRID = "End_Timestamp - Start_Timestamp", "Grid_Size / Workgroup_Size"
# Other names of the same counters: those of the MI200 series, and derived ones that have two.
OTHER_NAMES = {
    **{
        f"TCC_EA_{what}_sum": f"TCC_EA0_{what}_sum"
        for what in ("RDREQ", "RDREQ_32B", "WRREQ", "WRREQ_64B")
    },
    "FetchSize": "FETCH_SIZE",
    "WriteSize": "WRITE_SIZE",
}


def _of(source: str, *found: Metric) -> tuple[Metric, ...]:
    return tuple(replace(one, source=f"rocprofiler-sdk, {source}") for one in found)


def _stall(name: str, meaning: str) -> Metric:
    return Metric(f"stall_{name}", "Stall", Unit.RATIO, f"waves that wait {meaning}")


STALLS = _of(
    "thread trace, stats_*.csv",
    _stall("long_scoreboard", "for vector memory (vmcnt)"),
    _stall("short_scoreboard", "for LDS or scalar memory (lgkmcnt)"),
    _stall("lg_throttle", "to hand over a vector memory instruction"),
    _stall("mio_throttle", "to hand over an LDS instruction"),
    _stall("math_pipe_throttle", "for a busy vector or matrix unit"),
    _stall("barrier", "at a barrier of the work-group"),
    _stall("scalar_memory", "to hand over a scalar memory instruction"),
    _stall("other", "for something else"),
)
_COLUMNS = _of(
    "counter_collection.csv",
    Metric("duration_us", DURATION, Unit.US, "of one launch", scale=0.001),
    Metric("grid", GRID, Unit.COUNT, "work-groups"),
    Metric("block", "Workgroup_Size", Unit.COUNT, "work-items a work-group"),
    Metric("registers", "VGPR_Count", Unit.COUNT, "vector registers a work-item", 128, 256),
    Metric("sum_registers", "Accum_VGPR_Count", Unit.COUNT, "accumulation registers a work-item"),
    Metric("scalar_registers", "SGPR_Count", Unit.COUNT, "scalar registers a wave"),
    Metric("shared_bytes", "LDS_Block_Size", Unit.BYTES, "of LDS a work-group"),
    Metric("scratch_bytes", "Scratch_Size", Unit.BYTES, "of scratch a work-item", 0, 1),
)
_COUNTED = _of(
    "counter_defs.yaml",
    Metric("valu_pct", "VALUBusy", Unit.PERCENT, "of the time vector units work"),
    Metric("tensor_pct", "MfmaUtil", Unit.PERCENT, "of the time matrix units work", 50, 25),
    Metric("memory_pct", "MemUnitBusy", Unit.PERCENT, "of the time the memory unit works or waits"),
    Metric("memory_stalled_pct", "MemUnitStalled", Unit.PERCENT,
           "of the time the memory unit is stalled", 0, 20),
    Metric("write_stalled_pct", "WriteUnitStalled", Unit.PERCENT,
           "of the time the write unit is stalled", 0, 20),
    Metric("shared_stalled_pct", "ALUStalledByLDS", Unit.PERCENT,
           "of the time vector units wait for the queues of LDS", 0, 20),
    Metric("conflict_pct", "LDSBankConflict", Unit.PERCENT,
           "of the time bank conflicts stall LDS", 5, 20),
    Metric("shared_conflicts", "SQ_LDS_BANK_CONFLICT", Unit.COUNT, "cycles of LDS by conflicts"),
    Metric("shared_passes", "SQ_LDS_IDX_ACTIVE", Unit.COUNT, "cycles of LDS, conflicts among them"),
    Metric("occupancy_pct", "OccupancyPercent", Unit.PERCENT,
           "of the waves that a compute unit can hold were there (achieved)", 50, 25),
    Metric("threads_pct", "VALUUtilization", Unit.PERCENT,
           "of a wave's work-items take part in an instruction", 100, 75),
    Metric("l2_hit_pct", "L2CacheHit", Unit.PERCENT, "found in L2"),
    Metric("l2_hits", "TCC_HIT_sum", Unit.COUNT, "requests that L2 answered"),
    Metric("l2_misses", "TCC_MISS_sum", Unit.COUNT, "requests that L2 could not answer"),
    Metric("dram_read_bytes", "FETCH_SIZE", Unit.BYTES, "read from DRAM", scale=1024),
    Metric("dram_write_bytes", "WRITE_SIZE", Unit.BYTES, "written to DRAM", scale=1024),
    Metric("reads", "TCC_EA0_RDREQ_sum", Unit.COUNT, "reads that left L2"),
    Metric("reads_32b", "TCC_EA0_RDREQ_32B_sum", Unit.COUNT, "of them of 32 bytes"),
    Metric("reads_128b", "TCC_BUBBLE_sum", Unit.COUNT, "of them of 128 bytes"),
    Metric("writes", "TCC_EA0_WRREQ_sum", Unit.COUNT, "writes that left L2"),
    Metric("writes_64b", "TCC_EA0_WRREQ_64B_sum", Unit.COUNT, "of them of 64 bytes"),
)  # fmt: skip
# Names that no counter has: a formula gives them, most of them from what a card can hold.
_FOLLOWING = _of(
    "by formula",
    Metric("sm_pct", "max(VALUBusy, MfmaUtil)", Unit.PERCENT, "of what compute units can do",
           80, 60),
    Metric("dram_pct", "(FETCH_SIZE + WRITE_SIZE) / time / peak", Unit.PERCENT,
           "of the DRAM's peak", 60, 30),
    Metric("sms", "Cu_Count", Unit.COUNT, "compute units"),
    Metric("waves", "work-groups / those that fit", Unit.PER_SM, "full loads of work-groups"),
    Metric("occupancy_most_pct", "waves that fit / 32", Unit.PERCENT,
           "of the waves of a compute unit fit (theoretical), by registers, LDS and waves",
           80, 50),
    *(
        Metric(f"limit_{what}", f"those that fit by {words}", Unit.PER_SM,
               f"work-groups fit by {words}")
        for what, words in (("registers", "registers"), ("shared", "LDS"), ("warps", "waves"))
    ),
    Metric("stalled_pct", "Stall / (Latency + Idle)", Unit.PERCENT, "of waves' cycles are stalls"),
)  # fmt: skip
METRICS: dict[str, Metric] = {one.name: one for one in (*_COLUMNS, *_COUNTED, *_FOLLOWING, *STALLS)}
# What `rocprofv3 --pmc` is asked for, in several passes: few of TCC_… go into one.
DEFAULT_COUNTERS = tuple(one.counter for one in _COUNTED)


@dataclass(frozen=True, slots=True)
class Card:
    """What counters do not say of a card; the caller knows it from cited values.

    holds: of one compute unit. dram_bytes_per_s: its peak.
    """

    compute_units: int
    dram_bytes_per_s: float
    holds: SmLimits


Formula = Callable[[Mapping[str, float]], float]
# Of counters alone. ROCm Compute Profiler, system speed-of-light, gfx942.
FORMULAS: tuple[tuple[str, tuple[str, ...], Formula], ...] = (
    ("sm_pct", ("valu_pct", "tensor_pct"), lambda v: max(v["valu_pct"], v["tensor_pct"])),
    (
        "l2_hit_pct",
        ("l2_hits", "l2_misses"),
        lambda v: 100 * v["l2_hits"] / (v["l2_hits"] + v["l2_misses"]),
    ),
    (
        "dram_read_bytes",
        ("reads", "reads_32b", "reads_128b"),
        lambda v: 64 * v["reads"] - 32 * v["reads_32b"] + 64 * v["reads_128b"],
    ),
    (
        "dram_write_bytes",
        ("writes", "writes_64b"),
        lambda v: 32 * v["writes"] + 32 * v["writes_64b"],
    ),
)


def completed(counted: Mapping[str, float], card: Card | None = None) -> dict[str, float]:
    """The values, with those that follow from them (R30). What was counted stays as it is.

    Without a card there is no waves, dram_pct, sms, occupancy_most_pct or limit_…: nothing is
    guessed. What a formula divides by 0 is left out.
    """
    values = dict(counted)
    for name, needs, formula in FORMULAS:
        if name not in values and all(need in values for need in needs):
            try:
                values[name] = formula(values)
            except ZeroDivisionError:
                continue
    return values if card is None else {**_on_card(values, card), **values}


def _on_card(values: Mapping[str, float], card: Card) -> dict[str, float]:
    found: dict[str, float] = {"sms": card.compute_units}
    moved = values.get("dram_read_bytes"), values.get("dram_write_bytes")
    time_us = values.get("duration_us")
    if time_us and moved[0] is not None and moved[1] is not None:
        per_s = (moved[0] + moved[1]) / time_us * 1e6
        found["dram_pct"] = 100 * per_s / card.dram_bytes_per_s
    fits = _fitting(values, card)
    if fits:
        names = {"shared memory": "shared"}
        found |= {f"limit_{names.get(name, name)}": blocks for name, blocks in fits.by.items()}
        if fits.blocks and "grid" in values:
            found["occupancy_most_pct"] = 100 * fits.share
            found["waves"] = values["grid"] / (card.compute_units * fits.blocks)
    return found


def _fitting(values: Mapping[str, float], card: Card) -> Occupancy | None:
    """Work-groups of a compute unit by each resource; None where one was not counted."""
    needed = ("block", "registers", "sum_registers", "shared_bytes")
    block, registers, sums, shared = (values.get(name) for name in needed)
    if not block or registers is None or sums is None or shared is None:
        return None
    used = Resources(int(registers + sums) or 1, shared_bytes=int(shared), threads=int(block))
    return occupancy(used, card.holds)
