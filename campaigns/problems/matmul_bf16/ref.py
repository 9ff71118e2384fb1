"""Matrix product C = A B in bfloat16, A of M x K, B of K x N and C of M x N, all row-major."""

from __future__ import annotations

from typing import Any

import torch


def setup(*, M: int, K: int, N: int, seed: int, device: str) -> dict[str, Any]:
    """Draw A and B from normal distributions, B scaled so that values of C are about 1."""
    random = torch.Generator(device=device).manual_seed(seed)
    left = torch.randn(M, K, generator=random, device=device, dtype=torch.float32)
    right = torch.randn(K, N, generator=random, device=device, dtype=torch.float32)
    inputs = {
        "A": left.to(torch.bfloat16),
        "B": (right * K**-0.5).to(torch.bfloat16),
        "C": torch.empty(M, N, device=device, dtype=torch.bfloat16),
        "M": M,
        "K": K,
        "N": N,
    }
    return {"inputs": inputs, "outputs": ["C"]}


def reference(*, A: torch.Tensor, B: torch.Tensor, C: torch.Tensor, M: int, K: int, N: int) -> None:
    """Write A B into C, in the dtype they come in."""
    C.copy_((A.view(M, K) @ B.view(K, N)).view_as(C))


def work(*, M: int, K: int, N: int) -> tuple[float, float]:
    """Least operations (one multiply and one add per term) and least bytes."""
    return 2.0 * M * K * N, 2.0 * (M * K + K * N + M * N)
