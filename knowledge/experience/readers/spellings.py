"""PURE: how other systems spell what we have a word for: the alias table of every import.

A name that is in no table is asked about and never guessed; see `exchange.naming`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher

from knowledge.experience.terms import Bottleneck
from knowledge.specs import metrics

MOST_NEAR = 5
LEAST_LIKENESS = 0.5

OPS: dict[str, tuple[str, ...]] = {
    "matmul": ("gemm", "mm", "matrix_multiply", "matrix_multiplication", "matmult", "sgemm",
               "hgemm", "dense_gemm", "addmm"),
    "batched_matmul": ("bmm", "batched_gemm", "batch_matmul", "batch_gemm"),
    "grouped_gemm": ("group_gemm", "grouped_matmul", "groupgemm", "moe_gemm"),
    "linear": ("fully_connected", "dense", "fc"),
    "softmax": ("row_softmax", "online_softmax"),
    "log_softmax": ("logsoftmax",),
    "layernorm": ("layer_norm", "ln", "layer_normalization", "layernormalization"),
    "rmsnorm": ("rms_norm", "rms"),
    "groupnorm": ("group_norm", "gn"),
    "batchnorm": ("batch_norm", "bn"),
    "attention": ("sdpa", "scaled_dot_product_attention", "self_attention", "mha", "fmha",
                  "multi_head_attention", "multihead_attention"),
    "flash_attention": ("fa", "fa2", "fa3", "flash_attn", "flashattention"),
    "gqa": ("grouped_query_attention",),
    "mla": ("multi_head_latent_attention",),
    "paged_attention": ("pa", "paged_attn", "pa_decode"),
    "reduction": ("reduce",),
    "sum": ("sum_reduction", "reduce_sum"),
    "mean": ("mean_reduction", "reduce_mean"),
    "max": ("max_reduction", "reduce_max"),
    "cross_entropy": ("crossentropy", "cross_entropy_loss"),
    "topk": ("top_k",),
    "elementwise": ("element_wise", "pointwise"),
    "vector_add": ("vec_add", "vecadd", "vectoradd", "add"),
    "gelu": ("gelu_tanh",),
    "silu": ("swish",),
    "rope": ("rotary_embedding", "rotary"),
    "copy": ("memcpy",),
    "convolution": ("conv",),
    "conv2d": ("convolution2d", "conv_2d", "conv2d_direct"),
    "depthwise_conv": ("depthwise_convolution", "dwconv"),
    "max_pool": ("maxpool", "max_pool2d"),
}  # fmt: skip
BACKENDS: dict[str, tuple[str, ...]] = {
    "triton": ("openai_triton",),
    "cuda": ("cuda_cpp", "cuda_c++", "cu", "nvcc"),
    "hip": ("rocm", "hip_cpp", "turbo"),
    "cpp": ("c++", "cpu"),
    "cutedsl": ("cute_dsl", "cute"),
    "cutlass": (),
    "flydsl": ("fly_dsl",),
    "gluon": (),
    "ck": ("composable_kernel",),
    "hipblaslt": (),
    "aiter": (),
}
_DTYPES: dict[str, tuple[str, ...]] = {
    "float64": ("fp64", "f64", "double"),
    "float32": ("fp32", "f32", "float", "single"),
    "tfloat32": ("tf32",),
    "float16": ("fp16", "f16", "half"),
    "bfloat16": ("bf16",),
    "float8_e4m3fn": ("fp8_e4m3", "e4m3", "float8_e4m3", "fp8e4m3"),
    "float8_e4m3fnuz": ("fp8_e4m3fnuz", "e4m3fnuz"),
    "float8_e5m2": ("fp8_e5m2", "e5m2", "fp8e5m2"),
    "float8_e5m2fnuz": ("fp8_e5m2fnuz", "e5m2fnuz"),
    "float4_e2m1fn": ("fp4_e2m1", "e2m1", "float4_e2m1"),
    "int8": ("i8",),
    "int4": ("i4",),
}
DTYPES = {name: _DTYPES.get(name, ()) for name in metrics.DTYPES}
BOTTLENECKS: dict[str, tuple[str, ...]] = {
    Bottleneck.MEMORY: ("memory_bound", "bandwidth", "bandwidth_bound", "mem", "hbm",
                        "store_bandwidth_bound"),
    Bottleneck.MEMORY_DRAM: ("dram", "dram_bound"),
    Bottleneck.MEMORY_CACHE: ("l2", "l2_bound", "cache_bound"),
    Bottleneck.COMPUTE: ("compute_bound", "sm_bound"),
    Bottleneck.COMPUTE_TENSOR: ("tensor", "tensor_bound", "mfma_bound"),
    Bottleneck.COMPUTE_ALU: ("alu", "alu_bound", "alu_saturated", "fma_bound"),
    Bottleneck.LATENCY: ("latency_bound", "stall", "stall_bound", "pipeline_stalls"),
    Bottleneck.OCCUPANCY: ("occupancy_bound", "resource", "resource_bound", "register_pressure",
                           "occupancy_register_capped"),
    Bottleneck.SYNC: ("synchronization", "synchronisation", "barrier", "barrier_bound",
                      "sync_bound"),
    Bottleneck.LAUNCH: ("launch_bound", "launch_overhead", "grid_anomaly", "small_grid",
                        "low_sm_utilization"),
    Bottleneck.TAIL: ("tail_effect", "wave_quantization"),
    Bottleneck.MIXED: ("balanced",),
    Bottleneck.UNKNOWN: ("n_a", "none", "na"),
}  # fmt: skip
TABLES: dict[str, Mapping[str, tuple[str, ...]]] = {
    "op": OPS,
    "backend": BACKENDS,
    "dtype": DTYPES,
    "bottleneck": BOTTLENECKS,
}
ARCH = re.compile(r"(?:(?:sm|compute)_?(?P<sm>\d{2,3})[af]?|(?P<gfx>gfx[0-9a-f]{3,4}))", re.I)
EMPTY = ("", "-", "—", "–", "?")


def plain(name: str) -> str:
    """Lower case, with one underscore for every run of blanks and hyphens."""
    return re.sub(r"[\s\-/]+", "_", name.strip().casefold())


_OURS = {
    field: {plain(each): ours for ours, others in table.items() for each in (ours, *others)}
    for field, table in TABLES.items()
}


def our_name(field: str, name: str) -> str | None:
    """Our name of what a field calls so: "" for nothing said, None for a name in no table."""
    if name.strip() in EMPTY:
        return ""
    found = _OURS[field].get(plain(name))
    return None if found is None else str(found)


def our_names(field: str) -> list[str]:
    """Our names of a field, in order."""
    return sorted(str(name) for name in TABLES[field])


def architecture(name: str) -> str:
    """A compiler target, `sm_86` or `gfx942`, of its spellings; "" for another name."""
    found = ARCH.fullmatch(name.strip())
    if found is None:
        return ""
    return f"sm_{found['sm']}" if found["sm"] else found["gfx"].lower()


def nearest(name: str, known: Iterable[str], also: Mapping[str, str] | None = None) -> list[str]:
    """Up to five known names that may be meant, the likeliest first.

    also: further spellings → the known name that each stands for.
    """
    asked = plain(name)
    parts = set(asked.replace(".", "_").split("_"))
    scores: dict[str, float] = {}
    for spelling, ours in [*((each, each) for each in known), *(also or {}).items()]:
        other = plain(spelling)
        held = set(other.replace(".", "_").split("_"))
        shared = len(parts & held) / max(len(parts), len(held), 1)
        score = max(SequenceMatcher(None, asked, other).ratio(), shared)
        scores[ours] = max(scores.get(ours, 0.0), score)
    likely = [each for each, score in scores.items() if score >= LEAST_LIKENESS]
    return sorted(likely, key=lambda each: (-scores[each], each))[:MOST_NEAR]


def nearest_of(field: str, name: str) -> list[str]:
    """The names of a field's table that may be meant."""
    return nearest(name, our_names(field), _OURS[field])
