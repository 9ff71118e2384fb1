"""PURE: the terms of experience: labels, bottlenecks, shape classes, families of chips."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

SUCCESS, SMALL = 0.05, 0.02
FAMILIES = {
    "matmul": ("matmul", "gemm", "batched_matmul", "grouped_gemm", "linear"),
    "normalisation": ("softmax", "layernorm", "rmsnorm", "groupnorm", "batchnorm", "log_softmax"),
    "reduction": ("reduction", "sum", "mean", "max", "argmax", "cross_entropy", "topk"),
    "elementwise": ("elementwise", "vector_add", "gelu", "silu", "relu", "rope", "dropout", "copy"),
    "attention": ("attention", "flash_attention", "mha", "gqa", "mla", "paged_attention"),
    "convolution": ("convolution", "conv2d", "depthwise_conv", "pooling", "max_pool"),
}


class AttemptLabel(StrEnum):
    """What an attempt achieved against the incumbent (R12). The value is stored."""

    SUCCESS = "success"
    SMALL = "small"
    MICRO = "micro"
    TIE = "tie"
    REGRESSION = "regression"
    INCORRECT = "incorrect"

    @property
    def worked(self) -> bool:
        return self in (AttemptLabel.SUCCESS, AttemptLabel.SMALL, AttemptLabel.MICRO)

    @classmethod
    def choices(cls) -> list[tuple[str, str]]:
        return [(label.value, label.value) for label in cls]


class Bottleneck(StrEnum):
    """What limits a kernel (R25). memory and compute are known by the roofline alone."""

    MEMORY = "memory"
    MEMORY_DRAM = "memory_dram"
    MEMORY_CACHE = "memory_cache"
    COMPUTE = "compute"
    COMPUTE_TENSOR = "compute_tensor"
    COMPUTE_ALU = "compute_alu"
    LATENCY = "latency"
    OCCUPANCY = "occupancy"
    SYNC = "sync"
    LAUNCH = "launch"
    TAIL = "tail"
    MIXED = "mixed"
    UNKNOWN = "unknown"

    @property
    def group(self) -> str:
        """memory, compute, or itself."""
        return self.value.partition("_")[0]

    @property
    def words(self) -> str:
        return self.value.replace("_", " ")

    @classmethod
    def choices(cls) -> list[tuple[str, str]]:
        return [(each.value, each.words) for each in cls]


def label_of(gain: float | None, *, correct: bool, faster: bool, floor: float) -> AttemptLabel:
    """The label of an attempt. gain: over the incumbent, 0.05 is 5 % faster; None if not measured.

    faster: its interval is clear of zero and the verdict accepts it. floor: the noise floor.
    Without a measured gain a correct attempt is a tie.
    """
    if not correct:
        return AttemptLabel.INCORRECT
    if gain is None:
        return AttemptLabel.TIE
    if gain < -floor:
        return AttemptLabel.REGRESSION
    if not faster or gain <= floor:
        return AttemptLabel.TIE
    if gain >= SUCCESS:
        return AttemptLabel.SUCCESS
    return AttemptLabel.SMALL if gain >= SMALL else AttemptLabel.MICRO


def size_log2(shapes: Iterable[Mapping[str, Any]]) -> float | None:
    """log2 of the product of a shape's sizes, the mean over the shapes; None without any size."""
    sizes = [_log2(shape) for shape in shapes]
    known = [size for size in sizes if size is not None]
    return sum(known) / len(known) if known else None


def shape_class(size: float | None) -> str:
    """The class of shapes that dispatch alike: four powers of two of elements, "2^20–2^24"."""
    if size is None:
        return ""
    first = int(size // 4) * 4
    return f"2^{first}–2^{first + 4}"


def idea_key(strategy: str, params: Mapping[str, Any]) -> str:
    """A digest of strategy and parameters: the same for the same idea (R36)."""
    text = json.dumps([strategy, sorted((k, str(v)) for k, v in params.items())])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _log2(shape: Mapping[str, Any]) -> float | None:
    sizes = [v for v in shape.values() if isinstance(v, int) and not isinstance(v, bool) and v > 0]
    return sum(map(math.log2, sizes)) if sizes else None


_FAMILY = {op: family for family, ops in FAMILIES.items() for op in ops}


def family_of(op: str) -> str:
    """The family of an operation; the operation itself where it is in none."""
    return _FAMILY.get(op, op)
