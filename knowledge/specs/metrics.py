"""The registry of metric names: what each one means and in which canonical unit it is kept."""

from __future__ import annotations

from dataclasses import dataclass

TEXT = "text"


class MetricError(ValueError):
    """A metric name that nobody registered, or a unit of the wrong kind for it."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One kind of fact. `unit` is the canonical unit, or "text" for names such as HBM3e."""

    name: str
    unit: str
    meaning: str

    @property
    def numeric(self) -> bool:
        return self.unit != TEXT


TABLE = """
boost_clock Hz highest engine clock under load
compute_capability text CUDA compute capability
copy_bandwidth B/s measured: bytes read plus bytes written per second by a copy of a large array
cu_count count compute units
cuda_cores count FP32 lanes of the whole device
cuda_cores_per_sm count FP32 lanes of one multiprocessor
fma_throughput op/s measured: multiply-adds of one dtype, counted as two operations each
fp32_to_fp64_ratio ratio FP32 rate over FP64 rate outside the tensor cores
gfx_arch text LLVM target name
host_busy_share ratio measured: share of the CPU time that others took meanwhile
infinity_cache B memory-side cache
infinity_fabric_bandwidth B/s all links, both directions
infinity_fabric_links count links to other devices
infinity_fabric_per_link B/s one link, both directions
l1_instruction_cache B instruction cache
l1_scalar_cache B scalar data cache
l1_vector_per_cu B vector data cache of one compute unit
l2_size B second-level cache
l3_size B third-level cache
lds_banks count banks of the local data share
lds_per_cu B local data share of one compute unit
matmul_throughput op/s measured: matrix product of one dtype
matrix_cores count matrix cores of the whole device
max_agpr_per_lane count accumulation registers one lane may use
max_arch_vgpr_per_lane count architected vector registers one lane may use
max_blocks_per_sm count resident thread blocks
max_cluster_size count thread blocks in one cluster
max_registers_per_thread count 32-bit registers one thread may use
max_sgpr_per_wave count scalar registers one wave may use
max_smem_per_block B shared memory one block may use
max_smem_per_sm B shared memory of one multiprocessor
max_threads_per_block count threads of one block
max_threads_per_sm count resident threads
max_warps_per_sm count resident warps
max_waves_per_cu count resident waves of one compute unit
max_waves_per_simd count resident waves of one SIMD
max_workgroups_per_cu count resident workgroups
memory_bandwidth B/s device memory, peak
memory_bus_width bit width of the memory interface
memory_capacity B device memory
memory_data_rate bit/s rate of one memory pin
memory_type text kind of device memory
mfma_f16_flops_per_clock_per_cu op/clk FP16 matrix rate of one compute unit
nvlink_bandwidth B/s all links, both directions
pcie text host interface
peak_bf16_tensor_dense op/s BF16 matrix peak, dense
peak_bf16_tensor_sparse op/s BF16 matrix peak, 2:4 sparse
peak_fp16_tensor_dense op/s FP16 matrix peak, dense
peak_fp16_tensor_sparse op/s FP16 matrix peak, 2:4 sparse
peak_fp16_vector op/s FP16 peak outside the matrix units
peak_fp32 op/s FP32 peak outside the matrix units
peak_fp32_matrix op/s FP32 peak of the matrix units
peak_fp64 op/s FP64 peak outside the matrix units
peak_fp64_tensor op/s FP64 peak of the matrix units
peak_fp8_tensor_dense op/s FP8 matrix peak, dense
peak_fp8_tensor_sparse op/s FP8 matrix peak, 2:4 sparse
peak_int4_tensor_dense op/s INT4 matrix peak, dense
peak_int8_tensor_dense op/s INT8 matrix peak, dense
peak_int8_tensor_sparse op/s INT8 matrix peak, 2:4 sparse
peak_tf32_tensor_dense op/s TF32 matrix peak, dense
peak_tf32_tensor_sparse op/s TF32 matrix peak, 2:4 sparse
read_bandwidth B/s measured: bytes read per second from a large array
register_file_per_sm B register file of one multiprocessor
registers_per_sm count 32-bit registers of one multiprocessor
sgpr_file_per_cu B scalar register file of one compute unit
simds_per_cu count SIMDs of one compute unit
sm_count count multiprocessors
smem_banks count banks of shared memory
stream_processors count vector lanes of the whole device
tdp W board power limit
tensor_cores count tensor cores of the whole device
unified_l1_smem_per_sm B first-level cache and shared memory of one multiprocessor
vgpr_file_per_cu B vector register file of one compute unit
warp_size count lanes of one warp
wavefront_size count lanes of one wave
write_bandwidth B/s measured: bytes written per second to a large array
"""


def _read(row: str) -> Metric:
    name, unit, meaning = row.split(" ", 2)
    return Metric(name, unit, meaning)


METRICS = {metric.name: metric for metric in map(_read, TABLE.strip().splitlines())}


def metric_named(name: str) -> Metric:
    """The registered metric; MetricError names the nearest ones otherwise."""
    if name in METRICS:
        return METRICS[name]
    stem = name.split("_", 1)[0]
    near = [known for known in METRICS if known.startswith(stem)] or list(METRICS)
    raise MetricError(f"unknown metric '{name}'; accepted: {', '.join(near)}")
