"""PURE: families of operations. Kernels of one family meet the same limits."""

from __future__ import annotations

FAMILIES = {
    "matmul": ("matmul", "gemm", "batched_matmul", "grouped_gemm", "linear"),
    "normalisation": ("softmax", "layernorm", "rmsnorm", "groupnorm", "batchnorm", "log_softmax"),
    "reduction": ("reduction", "sum", "mean", "max", "argmax", "cross_entropy", "topk"),
    "elementwise": ("elementwise", "vector_add", "gelu", "silu", "relu", "rope", "dropout", "copy"),
    "attention": ("attention", "flash_attention", "mha", "gqa", "mla", "paged_attention"),
    "convolution": ("convolution", "conv2d", "depthwise_conv", "pooling", "max_pool"),
}
_FAMILY = {op: family for family, ops in FAMILIES.items() for op in ops}


def family_of(op: str) -> str:
    """The family of an operation; the operation itself where it is in none."""
    return _FAMILY.get(op, op)
