"""The metrics, one record each: name | plausible low | plausible high | meaning, then aliases.

The canonical unit follows from the bounds; a text metric has "text" in their place. An indented
line holds other spellings of the name above it, none of them ambiguous: "bf16_tflops" may be dense
or sparse, and is no alias. Behind "?" stand the qualifiers that the metric takes; without them it
takes none. What a name says already (dense, bf16, per_cu) is no qualifier of it.
"""

TABLE = """
boost_clock | 300 MHz | 9 GHz | highest engine clock under load
    gpu_boost_clock max_sm_clock peak_engine_clock max_engine_clock
compute_capability | text | CUDA compute capability
    cuda_capability cuda_compute_capability
copy_bandwidth | 10 MB/s | 500 TB/s | measured: bytes read plus bytes written per second by a copy \
of a large array
    ? array_bytes cache per
cu_count | 8 CU | 2000 CU | compute units
    num_cus compute_units compute_unit_count ? per
cuda_cores | 256 core | 100000 core | FP32 lanes of the whole device
    fp32_cores cuda_core_count ? per
cuda_cores_per_sm | 16 core | 512 core | FP32 lanes of one multiprocessor
    fp32_cores_per_sm
fma_throughput | 1 GFLOPS | 2 PFLOPS | measured: multiply-adds of one dtype, counted as two \
operations each
    ? dtype clock per
fp32_to_fp64_ratio | 0.5 ratio | 200 ratio | FP32 rate over FP64 rate outside the tensor cores
gfx_arch | text | LLVM target name
    gcn_arch gfx_target llvm_target
host_busy_share | 0 ratio | 1 ratio | measured: share of the CPU time that others took meanwhile
infinity_cache | 16 MiB | 4 GiB | memory-side cache
    mall_size memory_side_cache ? per
infinity_fabric_bandwidth | 50 GB/s | 10 TB/s | all links, both directions
    ? per
infinity_fabric_gcd_to_gcd | 50 GB/s | 5 TB/s | between the two dies of one module, both directions
infinity_fabric_links | 1 link | 40 link | links to other devices
infinity_fabric_per_link | 10 GB/s | 2 TB/s | one link, both directions
    infinity_fabric_link_bandwidth
l1_instruction_cache | 4 KiB | 1 MiB | instruction cache
    l1i_size ? per
l1_scalar_cache | 2 KiB | 256 KiB | scalar data cache
    ? per
l1_smem_total | 1 MiB | 500 MiB | first-level cache and shared memory of the whole device
    ? per
l1_vector_per_cu | 4 KiB | 1 MiB | vector data cache of one compute unit
    l1_vector_cache vl1d_size
l2_size | 128 KiB | 2 GiB | second-level cache
    l2_cache l2_cache_size l2_bytes l2_capacity ? per
l3_size | 256 KiB | 8 GiB | third-level cache
    l3_cache l3_cache_size ? per
lds_banks | 4 bank | 512 bank | banks of the local data share
lds_per_cu | 8 KiB | 2 MiB | local data share of one compute unit
    lds_size local_data_share
lds_allocation_unit | 64 B | 8 KiB | in what steps a workgroup gets local data share
matmul_throughput | 10 MFLOPS | 100 PFLOPS | measured: matrix product of one dtype
    ? dtype sparsity accumulate clock per load
matrix_cores | 64 core | 10000 core | matrix cores of the whole device
    matrix_core_count ? per
max_agpr_per_lane | 32 register | 2048 register | accumulation registers one lane may use
    max_agprs
max_arch_vgpr_per_lane | 32 register | 2048 register | architected vector registers one lane may \
use
    max_vgprs
max_blocks_per_sm | 4 block | 128 block | resident thread blocks
    max_blocks_per_multiprocessor
max_cluster_size | 2 block | 64 block | thread blocks in one cluster
    max_blocks_per_cluster ? portable
max_registers_per_thread | 63 register | 1024 register | 32-bit registers one thread may use
    max_regs_per_thread
max_sgpr_per_wave | 16 register | 1024 register | scalar registers one wave may use
    max_sgprs
max_smem_per_block | 16 KiB | 1 MiB | shared memory one block may use
    max_shared_memory_per_block shared_memory_per_block_optin
max_smem_per_sm | 16 KiB | 1 MiB | shared memory of one multiprocessor
    max_shared_memory_per_sm shared_memory_per_sm
max_threads_per_block | 256 thread | 4096 thread | threads of one block
max_threads_per_sm | 256 thread | 8192 thread | resident threads
    max_threads_per_multiprocessor
max_warps_per_sm | 8 warp | 256 warp | resident warps
    max_warps_per_multiprocessor
max_waves_per_cu | 4 wave | 128 wave | resident waves of one compute unit
max_waves_per_simd | 1 wave | 64 wave | resident waves of one SIMD
max_workgroups_per_cu | 1 workgroup | 256 workgroup | resident workgroups
memory_bandwidth | 5 GB/s | 30 TB/s | device memory, peak
    hbm_bandwidth dram_bandwidth peak_bandwidth memory_bw peak_memory_bandwidth vram_bandwidth
    ? clock per
memory_bus_width | 32 bit | 30000 bit | width of the memory interface
    memory_interface_width bus_width ? per
memory_capacity | 1 GB | 2 TB | device memory
    memory_size vram vram_size hbm_capacity device_memory ? per
memory_clock | 200 MHz | 15 GHz | clock of the device memory
    max_mclk max_memory_clock
memory_data_rate | 300 Mbit/s | 100 Gbit/s | rate of one memory pin
memory_type | text | kind of device memory
    vram_type
mfma_f16_flops_per_clock_per_cu | 256 op/clk | 30000 op/clk | FP16 matrix rate of one compute unit
    ? sparsity accumulate
nvlink_bandwidth | 20 GB/s | 10 TB/s | all links, both directions
    nvlink_bw ? per
pcie | text | host interface
    pcie_interface host_interface
peak_bf16_tensor_dense | 20 TFLOPS | 15 PFLOPS | BF16 matrix peak, dense
    bf16_dense peak_bf16_dense ? accumulate clock per
peak_bf16_tensor_sparse | 50 TFLOPS | 30 PFLOPS | BF16 matrix peak, 2:4 sparse
    bf16_sparse peak_bf16_sparse ? accumulate clock per
peak_fp16_tensor_dense | 20 TFLOPS | 15 PFLOPS | FP16 matrix peak, dense
    fp16_dense peak_fp16_dense ? accumulate clock per
peak_fp16_tensor_sparse | 50 TFLOPS | 30 PFLOPS | FP16 matrix peak, 2:4 sparse
    fp16_sparse peak_fp16_sparse ? accumulate clock per
peak_fp16_vector | 5 TFLOPS | 1 PFLOPS | FP16 peak outside the matrix units
    fp16_vector ? clock per
peak_fp32 | 1 TFLOPS | 1.5 PFLOPS | FP32 peak outside the matrix units
    fp32_vector peak_fp32_vector ? clock per
peak_fp32_matrix | 10 TFLOPS | 1 PFLOPS | FP32 peak of the matrix units
    fp32_matrix ? accumulate clock per
peak_fp4_tensor_dense | 200 TFLOPS | 100 PFLOPS | FP4 matrix peak, dense
    fp4_dense peak_fp4_dense nvfp4_dense mxfp4_dense ? accumulate clock per
peak_fp4_tensor_sparse | 500 TFLOPS | 200 PFLOPS | FP4 matrix peak, 2:4 sparse
    fp4_sparse peak_fp4_sparse ? accumulate clock per
peak_fp64 | 50 GFLOPS | 500 TFLOPS | FP64 peak outside the matrix units
    fp64_vector peak_fp64_vector ? clock per
peak_fp64_tensor | 100 GFLOPS | 1 PFLOPS | FP64 peak of the matrix units
    fp64_tensor_tflops peak_fp64_matrix ? accumulate clock per
peak_fp6_tensor_dense | 200 TFLOPS | 50 PFLOPS | FP6 matrix peak, dense
    fp6_dense peak_fp6_dense mxfp6_dense ? accumulate clock per
peak_fp8_tensor_dense | 50 TFLOPS | 30 PFLOPS | FP8 matrix peak, dense
    fp8_dense peak_fp8_dense ? accumulate clock per
peak_fp8_tensor_sparse | 100 TFLOPS | 50 PFLOPS | FP8 matrix peak, 2:4 sparse
    fp8_sparse peak_fp8_sparse ? accumulate clock per
peak_int4_tensor_dense | 50 TOPS | 20 POPS | INT4 matrix peak, dense
    int4_dense ? accumulate clock per
peak_int8_tensor_dense | 20 TOPS | 30 POPS | INT8 matrix peak, dense
    int8_dense peak_int8_dense ? accumulate clock per
peak_int8_tensor_sparse | 50 TOPS | 30 POPS | INT8 matrix peak, 2:4 sparse
    int8_sparse peak_int8_sparse ? accumulate clock per
peak_tf32_tensor_dense | 10 TFLOPS | 10 PFLOPS | TF32 matrix peak, dense
    tf32_dense peak_tf32_dense ? accumulate clock per
peak_tf32_tensor_sparse | 50 TFLOPS | 20 PFLOPS | TF32 matrix peak, 2:4 sparse
    tf32_sparse peak_tf32_sparse ? accumulate clock per
read_bandwidth | 10 MB/s | 500 TB/s | measured: bytes read per second from a large array
    ? array_bytes cache per
register_file_per_sm | 32 KiB | 2 MiB | register file of one multiprocessor
    register_file_size_per_sm
register_file_total | 1 MiB | 500 MiB | register files of the whole device
    ? per
registers_per_sm | 8192 register | 524288 register | 32-bit registers of one multiprocessor
    regs_per_sm registers_per_multiprocessor
register_allocation_unit | 32 register | 4096 register | in what steps a warp gets registers
rt_cores | 8 core | 2000 core | ray tracing cores of the whole device
    rt_core_count ? per
sgpr_file_per_cu | 1 KiB | 100 KiB | scalar register file of one compute unit
simds_per_cu | 1 SIMD | 32 SIMD | SIMDs of one compute unit
sm_count | 4 SM | 1000 SM | multiprocessors
    sms num_sms multiprocessor_count multi_processor_count ? per
smem_banks | 8 bank | 256 bank | banks of shared memory
    shared_memory_banks
smem_allocation_unit | 16 B | 8 KiB | in what steps a block gets shared memory
smem_reserved_per_block | 0 B | 16 KiB | shared memory that a block loses to the system
sub_partitions_per_sm | 1 count | 16 count | parts of a multiprocessor with registers of their own
stream_processors | 512 core | 100000 core | vector lanes of the whole device
    ? per
tdp | 10 W | 5 kW | board power limit
    tbp tgp power_limit board_power max_power ? per
tensor_cores | 16 core | 5000 core | tensor cores of the whole device
    tensor_core_count ? per
unified_l1_smem_per_sm | 16 KiB | 2 MiB | first-level cache and shared memory of one multiprocessor
    unified_data_cache l1_smem_per_sm
vgpr_allocation_unit | 1 register | 64 register | in what steps a lane gets vector registers
vgpr_file_per_cu | 64 KiB | 4 MiB | vector register file of one compute unit
warp_size | 8 thread | 128 thread | lanes of one warp
wavefront_size | 16 item | 256 item | lanes of one wave
    wave_size
write_bandwidth | 10 MB/s | 500 TB/s | measured: bytes written per second to a large array
    ? array_bytes cache per
"""
