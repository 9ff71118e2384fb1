"""Hardware counters that kopt reads of a kernel: a name of ours, the vendor's, a unit, a meaning.

Names of Nsight Compute (ncu) for compute capability 8.0 to 10.0. They and their meanings are those
of its sections SpeedOfLight, Occupancy, LaunchStats, WarpStateStats and MemoryWorkloadAnalysis.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Unit(StrEnum):
    """What a value is in, after reading."""

    PERCENT = "%"
    US = "µs"
    BYTES = "bytes"
    COUNT = ""
    PER_SM = "per SM"
    RATIO = "per issued instruction"


# What ncu calls a unit → ours, and what to multiply by.
SCALES: dict[str, tuple[Unit, float]] = {
    "%": (Unit.PERCENT, 1.0),
    **dict.fromkeys(("ns", "nsecond"), (Unit.US, 0.001)),
    **dict.fromkeys(("us", "usecond"), (Unit.US, 1.0)),
    **dict.fromkeys(("ms", "msecond"), (Unit.US, 1000.0)),
    **dict.fromkeys(("s", "second"), (Unit.US, 1000000.0)),
    **dict.fromkeys(("byte", "byte/block"), (Unit.BYTES, 1.0)),
    **dict.fromkeys(("Kbyte", "Kbyte/block"), (Unit.BYTES, 1000.0)),
    "Mbyte": (Unit.BYTES, 1e6),
    "Gbyte": (Unit.BYTES, 1e9),
}


@dataclass(frozen=True, slots=True)
class Metric:
    """counter: the vendor's name. meaning: ends a sentence that begins with the value."""

    name: str
    counter: str
    unit: Unit
    meaning: str


def _stall(name: str, meaning: str) -> Metric:
    counter = f"smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio"
    return Metric(f"stall_{name}", counter, Unit.RATIO, f"warps that wait {meaning}")


STALLS = (
    _stall("long_scoreboard", "for global or local memory"),
    _stall("short_scoreboard", "for shared memory or a special function"),
    _stall("lg_throttle", "to hand over a global or local memory instruction"),
    _stall("mio_throttle", "to hand over a shared memory or special function instruction"),
    _stall("math_pipe_throttle", "for a busy arithmetic unit"),
    _stall("barrier", "at a barrier of the block"),
    _stall("membar", "at a memory fence"),
    _stall("drain", "for their last stores and atomics to leave"),
    _stall("wait", "a fixed time between dependent instructions"),
    _stall("no_instruction", "for their next instruction"),
    _stall("imc_miss", "for a constant"),
    _stall("gmma", "for a product of the tensor cores"),
)
_PERCENT = "avg.pct_of_peak_sustained_elapsed"
_ACTIVE = "avg.pct_of_peak_sustained_active"
METRICS: dict[str, Metric] = {
    one.name: one
    for one in (
        Metric("duration_us", "gpu__time_duration.sum", Unit.US, "of one launch"),
        Metric("sm_pct", f"sm__throughput.{_PERCENT}", Unit.PERCENT, "of what the SMs can do"),
        Metric(
            "memory_pct", f"gpu__compute_memory_throughput.{_PERCENT}", Unit.PERCENT,
            "of what the busiest part of the memory can do, caches among them",
        ),
        Metric("dram_pct", f"gpu__dram_throughput.{_PERCENT}", Unit.PERCENT, "of the DRAM's peak"),
        Metric("l2_pct", f"lts__throughput.{_PERCENT}", Unit.PERCENT, "of what L2 can do"),
        Metric("l1_pct", f"l1tex__throughput.{_ACTIVE}", Unit.PERCENT, "of what L1 can do"),
        Metric("dram_read_bytes", "dram__bytes_read.sum", Unit.BYTES, "read from DRAM"),
        Metric("dram_write_bytes", "dram__bytes_write.sum", Unit.BYTES, "written to DRAM"),
        Metric("l1_hit_pct", "l1tex__t_sector_hit_rate.pct", Unit.PERCENT, "found in L1"),
        Metric("l2_hit_pct", "lts__t_sector_hit_rate.pct", Unit.PERCENT, "found in L2"),
        Metric("issue_pct", f"smsp__issue_active.{_ACTIVE}", Unit.PERCENT, "of issue slots used"),
        Metric(
            "tensor_pct", f"sm__pipe_tensor_cycles_active.{_ACTIVE}", Unit.PERCENT,
            "of the time tensor cores work",
        ),
        Metric("fma_pct", f"sm__inst_executed_pipe_fma.{_ACTIVE}", Unit.PERCENT, "of FMA's peak"),
        Metric("alu_pct", f"sm__inst_executed_pipe_alu.{_ACTIVE}", Unit.PERCENT, "of ALU's peak"),
        Metric(
            "special_pct", f"sm__inst_executed_pipe_xu.{_ACTIVE}", Unit.PERCENT,
            "of the special function unit's peak",
        ),
        Metric(
            "occupancy_pct", f"sm__warps_active.{_ACTIVE}", Unit.PERCENT,
            "of the warps that an SM can hold were there",
        ),
        Metric(
            "occupancy_most_pct", "sm__maximum_warps_per_active_cycle_pct", Unit.PERCENT,
            "of the warps that an SM can hold fit, by registers, shared memory and blocks",
        ),
        Metric("waves", "launch__waves_per_multiprocessor", Unit.PER_SM, "full loads of blocks"),
        Metric("grid", "launch__grid_size", Unit.COUNT, "blocks"),
        Metric("block", "launch__block_size", Unit.COUNT, "threads a block"),
        Metric("sms", "launch__sm_count", Unit.COUNT, "SMs"),
        Metric("registers", "launch__registers_per_thread", Unit.COUNT, "registers a thread"),
        Metric("shared_bytes", "launch__shared_mem_per_block", Unit.BYTES, "shared a block"),
        *(
            Metric(f"limit_{what}", f"launch__occupancy_limit_{theirs}", Unit.PER_SM,
                   f"blocks fit by {words}")
            for what, theirs, words in (
                ("registers", "registers", "registers"), ("shared", "shared_mem", "shared memory"),
                ("warps", "warps", "warps"), ("blocks", "blocks", "blocks"),
            )
        ),
        Metric("busy_cycles", "sm__cycles_active.avg", Unit.COUNT, "cycles of a mean SM"),
        Metric("busiest_cycles", "sm__cycles_active.max", Unit.COUNT, "cycles of the busiest SM"),
        *(
            Metric(f"{word}_{what}", f"l1tex__t_{what}_pipe_lsu_mem_global_op_{short}.sum",
                   Unit.COUNT, f"{what} of global {word}s")
            for word, short in (("load", "ld"), ("store", "st"))
            for what in ("requests", "sectors")
        ),
        Metric("reductions", "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", Unit.COUNT,
               "atomics without an answer"),
        Metric("atomics", "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", Unit.COUNT,
               "atomics with an answer"),
        Metric("shared_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
               Unit.COUNT, "more passes of shared memory by bank conflicts"),
        Metric("shared_passes", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", Unit.COUNT,
               "passes of shared memory"),
        Metric("spill_pct", "derived__local_spilling_requests_pct", Unit.PERCENT,
               "of local memory requests are registers that did not fit"),
        Metric("local_loads", "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", Unit.COUNT,
               "requests of local loads"),
        Metric("threads", "smsp__thread_inst_executed_per_inst_executed.ratio", Unit.COUNT,
               "of a warp's 32 threads take part in an instruction"),
        *STALLS,
    )
}  # fmt: skip
COUNTERS = frozenset(one.counter for one in METRICS.values())
