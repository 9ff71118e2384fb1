"""What a platform and an operation belong to: products of the wiki, families of operations."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.models import Platform

# Family → its operations. Kernels of one family meet the same limits.
FAMILIES = {
    "matmul": ("matmul", "gemm", "batched_matmul", "grouped_gemm", "linear"),
    "normalisation": ("softmax", "layernorm", "rmsnorm", "groupnorm", "batchnorm", "log_softmax"),
    "reduction": ("reduction", "sum", "mean", "max", "argmax", "cross_entropy", "topk"),
    "elementwise": ("elementwise", "vector_add", "gelu", "silu", "relu", "rope", "dropout", "copy"),
    "attention": ("attention", "flash_attention", "mha", "gqa", "mla", "paged_attention"),
    "convolution": ("convolution", "conv2d", "depthwise_conv", "pooling", "max_pool"),
}
_FAMILY = {op: family for family, ops in FAMILIES.items() for op in ops}


@dataclass(frozen=True, slots=True)
class Place:
    """Where an attempt ran."""

    platform: str = ""
    arch: str = ""
    vendor: str = ""


def family_of(op: str) -> str:
    """The family of an operation; the operation itself where it is in none."""
    return _FAMILY.get(op, op)


def place_of(platform: str, arch: str = "") -> Place:
    """A platform of the wiki by its slug; else what was given, with the vendor that arch tells."""
    known = Platform.objects.filter(slug=platform).first() if platform else None
    if known is not None:
        return Place(known.slug, known.target, known.vendor)
    return Place(platform, arch, _vendor(arch))


def _vendor(arch: str) -> str:
    if arch.startswith("sm_"):
        return "NVIDIA"
    return "AMD" if arch.startswith("gfx") else ""
