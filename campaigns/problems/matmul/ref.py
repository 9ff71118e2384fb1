"""Matrix product C = A B with A of M x K, B of K x N and C of M x N, all row-major."""

from __future__ import annotations

from typing import Any

import torch


def setup(*, M: int, K: int, N: int, seed: int, device: str) -> dict[str, Any]:
    """Draw A and B from the standard normal distribution."""
    random = torch.Generator(device=device).manual_seed(seed)
    left = torch.randn(M, K, generator=random, device=device, dtype=torch.float32)
    right = torch.randn(K, N, generator=random, device=device, dtype=torch.float32)
    product = torch.empty(M, N, device=device, dtype=torch.float32)
    inputs = {"A": left, "B": right, "C": product, "M": M, "K": K, "N": N}
    return {"inputs": inputs, "outputs": ["C"]}


def reference(*, A: torch.Tensor, B: torch.Tensor, C: torch.Tensor, M: int, K: int, N: int) -> None:
    """Write A B into C, in the dtype they come in; float32 is never rounded to TF32."""
    allowed = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        C.copy_((A.view(M, K) @ B.view(K, N)).view_as(C))
    finally:
        torch.backends.cuda.matmul.allow_tf32 = allowed


def work(*, M: int, K: int, N: int) -> tuple[float, float]:
    """Least operations (one multiply and one add per term) and least bytes."""
    return 2.0 * M * K * N, 4.0 * (M * K + K * N + M * N)
