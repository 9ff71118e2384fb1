"""NVIDIA's counters, as Nsight Compute (ncu) names them, for compute capability 8.0 to 10.0.

Names and meanings are those of its sections, bounds those of its rules beside them: SpeedOfLight,
HighPipeUtilization, TheoreticalOccupancy, IssueSlotUtilization, CPIStall, ThreadDivergence. Those
of fp64 and of uniform branches are of public classifiers and ours.
"""

from __future__ import annotations

from dataclasses import replace

from campaigns.profiles.kernel_profile import Metric, Unit

_PERCENT = "avg.pct_of_peak_sustained_elapsed"
_ACTIVE = "avg.pct_of_peak_sustained_active"


def _of(section: str, *found: Metric) -> tuple[Metric, ...]:
    return tuple(replace(one, source=f"Nsight Compute, {section}.section") for one in found)


def _stall(name: str, meaning: str) -> Metric:
    counter = f"smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio"
    return Metric(f"stall_{name}", counter, Unit.RATIO, f"warps that wait {meaning}")


STALLS = _of(
    "WarpStateStats",
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
    _stall("branch_resolving", "for the target of a branch"),
    _stall("tex_throttle", "to hand over a texture instruction"),
    _stall("dispatch_stall", "for the dispatcher"),
    _stall("sleeping", "in their own sleep"),
    _stall("misc", "for something else"),
)
_SPEED = _of(
    "SpeedOfLight",
    Metric("duration_us", "gpu__time_duration.sum", Unit.US, "of one launch"),
    Metric("sm_pct", f"sm__throughput.{_PERCENT}", Unit.PERCENT, "of what the SMs can do", 80, 60),
    Metric(
        "memory_pct", f"gpu__compute_memory_throughput.{_PERCENT}", Unit.PERCENT,
        "of what the memory can do, by ncu's choice of its parts, caches among them", 80, 60,
    ),
    Metric("dram_pct", f"gpu__dram_throughput.{_PERCENT}", Unit.PERCENT, "of the DRAM's peak"),
    Metric("l2_pct", f"lts__throughput.{_PERCENT}", Unit.PERCENT,
           "of what L2 can do, by parts that memory_pct leaves out too"),
    Metric("l1_pct", f"l1tex__throughput.{_ACTIVE}", Unit.PERCENT, "of what L1 can do"),
)  # fmt: skip
_MEMORY = _of(
    "MemoryWorkloadAnalysis",
    Metric("dram_read_bytes", "dram__bytes_read.sum", Unit.BYTES, "read from DRAM"),
    Metric("dram_write_bytes", "dram__bytes_write.sum", Unit.BYTES, "written to DRAM"),
    Metric("l1_hit_pct", "l1tex__t_sector_hit_rate.pct", Unit.PERCENT, "found in L1"),
    Metric("l2_hit_pct", "lts__t_sector_hit_rate.pct", Unit.PERCENT, "found in L2"),
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
    Metric("spills", "sass__inst_executed_register_spilling", Unit.COUNT,
           "instructions that move registers that did not fit"),
    Metric("local_loads", "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", Unit.COUNT,
           "requests of local loads"),
)  # fmt: skip
_PIPES = _of(
    "ComputeWorkloadAnalysis",
    Metric(
        "tensor_pct", f"sm__pipe_tensor_cycles_active.{_ACTIVE}", Unit.PERCENT,
        "of the time tensor cores work", 60, 20,
    ),
    Metric("fma_pct", f"sm__inst_executed_pipe_fma.{_ACTIVE}", Unit.PERCENT, "of FMA's peak"),
    Metric("alu_pct", f"sm__inst_executed_pipe_alu.{_ACTIVE}", Unit.PERCENT, "of ALU's peak"),
    Metric(
        "special_pct", f"sm__inst_executed_pipe_xu.{_ACTIVE}", Unit.PERCENT,
        "of the special function unit's peak", 20, 60,
    ),
    Metric("fp64_pct", f"sm__inst_executed_pipe_fp64.{_ACTIVE}", Unit.PERCENT,
           "of the peak of double precision", 0, 1),
)  # fmt: skip
_SUMS = _of(
    "SpeedOfLight_RooflineChart",
    *(
        Metric(what, f"smsp__sass_thread_inst_executed_op_{what}_pred_on.sum.per_cycle_elapsed",
               Unit.PER_CYCLE, f"{words} of float32")
        for what, words in (
            ("fadd", "additions"), ("fmul", "products"), ("ffma", "fused products and additions"),
        )
    ),
)  # fmt: skip
_OCCUPANCY = _of(
    "Occupancy",
    Metric(
        "occupancy_pct", f"sm__warps_active.{_ACTIVE}", Unit.PERCENT,
        "of the warps that an SM can hold were there (achieved)",
    ),
    Metric(
        "occupancy_most_pct", "sm__maximum_warps_per_active_cycle_pct", Unit.PERCENT,
        "of the warps of an SM fit (theoretical), by registers, shared memory and blocks",
        80, 50,
    ),
    *(
        Metric(f"limit_{what}", f"launch__occupancy_limit_{theirs}", Unit.PER_SM,
               f"blocks fit by {words}")
        for what, theirs, words in (
            ("registers", "registers", "registers"), ("shared", "shared_mem", "shared memory"),
            ("warps", "warps", "warps"), ("blocks", "blocks", "blocks"),
        )
    ),
)  # fmt: skip
_LAUNCH = _of(
    "LaunchStats",
    Metric("waves", "launch__waves_per_multiprocessor", Unit.PER_SM, "full loads of blocks"),
    Metric("grid", "launch__grid_size", Unit.COUNT, "blocks"),
    Metric("block", "launch__block_size", Unit.COUNT, "threads a block"),
    Metric("sms", "launch__sm_count", Unit.COUNT, "SMs"),
    Metric("registers", "launch__registers_per_thread", Unit.COUNT, "registers a thread"),
    Metric(
        "shared_bytes",
        "launch__shared_mem_per_block",
        Unit.BYTES,
        "shared a block, with what the driver reserves",
    ),
)
_BALANCE = _of(
    "WorkloadDistribution",
    Metric("busy_cycles", "sm__cycles_active.avg", Unit.COUNT, "cycles of a mean SM"),
    Metric("busiest_cycles", "sm__cycles_active.max", Unit.COUNT, "cycles of the busiest SM"),
)
_WARPS = _of(
    "WarpStateStats",
    Metric("issue_pct", f"smsp__issue_active.{_ACTIVE}", Unit.PERCENT, "of issue slots used",
           80, 60),
    Metric("threads", "smsp__thread_inst_executed_per_inst_executed.ratio", Unit.COUNT,
           "of a warp's 32 threads take part in an instruction", 32, 24),
    Metric("threads_on", "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
           Unit.COUNT, "of a warp's 32 threads take part and are not switched off", 32, 24),
    _stall("not_selected", "for their turn, ready to issue"),
)  # fmt: skip
_BRANCHES = _of(
    "SourceCounters",
    Metric("uniform_pct", "smsp__sass_average_branch_targets_threads_uniform.pct", Unit.PERCENT,
           "of branches go one way for the whole warp", 100, 80),
)  # fmt: skip
METRICS: dict[str, Metric] = {
    one.name: one
    for one in (
        *_SPEED, *_MEMORY, *_PIPES, *_SUMS, *_OCCUPANCY, *_LAUNCH, *_BALANCE, *_WARPS, *_BRANCHES,
        *STALLS,
    )
}  # fmt: skip
