"""C = gelu(A B + bias) in bfloat16, A of M x K, B of K x N and C of M x N, all row-major."""

from __future__ import annotations

from typing import Any

import torch


def setup(*, M: int, K: int, N: int, seed: int, device: str) -> dict[str, Any]:
    """Draw A, B and bias from normal distributions, B scaled so that A B is about 1."""
    random = torch.Generator(device=device).manual_seed(seed)

    def drawn(*shape: int, scale: float = 1.0) -> torch.Tensor:
        values = torch.randn(*shape, generator=random, device=device, dtype=torch.float32)
        return (values * scale).to(torch.bfloat16)

    inputs = {
        "A": drawn(M, K),
        "B": drawn(K, N, scale=K**-0.5),
        "bias": drawn(N),
        "C": torch.empty(M, N, device=device, dtype=torch.bfloat16),
        "M": M,
        "K": K,
        "N": N,
    }
    return {"inputs": inputs, "outputs": ["C"]}


def reference(
    *,
    A: torch.Tensor,
    B: torch.Tensor,
    bias: torch.Tensor,
    C: torch.Tensor,
    M: int,
    K: int,
    N: int,
) -> None:
    """Write the tanh form of GELU of A B + bias into C, in the dtype they come in."""
    sums = torch.addmm(bias.view(N), A.view(M, K), B.view(K, N))
    C.copy_(torch.nn.functional.gelu(sums, approximate="tanh").view_as(C))


def work(*, M: int, K: int, N: int) -> tuple[float, float]:
    """Least operations (those of the product, the bias and 8 per GELU) and least bytes."""
    return 2.0 * M * K * N + 9.0 * M * N, 2.0 * (M * K + K * N + N + M * N)
