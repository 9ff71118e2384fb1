"""A linear layer y = x w, and its gradients dx = dy w^T and dw = x^T dy, all row-major."""

from __future__ import annotations

from typing import Any

import torch


def setup(*, M: int, K: int, N: int, BACKWARD: int, seed: int, device: str) -> dict[str, Any]:
    """Draw x, w and, for the backward direction, dy from the standard normal distribution.

    What the other direction has is one element that nobody reads or writes.
    """
    random = torch.Generator(device=device).manual_seed(seed)

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=random, device=device, dtype=torch.float32)

    def empty(*shape: int) -> torch.Tensor:
        return torch.empty(*shape, device=device, dtype=torch.float32)

    def unused() -> torch.Tensor:
        return torch.zeros(1, device=device, dtype=torch.float32)

    inputs = {
        "x": drawn(M, K),
        "w": drawn(K, N),
        "dy": drawn(M, N) if BACKWARD else unused(),
        "y": unused() if BACKWARD else empty(M, N),
        "dx": empty(M, K) if BACKWARD else unused(),
        "dw": empty(K, N) if BACKWARD else unused(),
        "M": M,
        "K": K,
        "N": N,
        "BACKWARD": BACKWARD,
    }
    return {"inputs": inputs, "outputs": ["dx", "dw"] if BACKWARD else ["y"]}


def reference(
    *,
    x: torch.Tensor,
    w: torch.Tensor,
    dy: torch.Tensor,
    y: torch.Tensor,
    dx: torch.Tensor,
    dw: torch.Tensor,
    M: int,
    K: int,
    N: int,
    BACKWARD: int,
) -> None:
    """Write y, or dx and dw, in the dtype they come in; float32 is never rounded to TF32."""
    allowed = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    rows, weight = x.view(M, K), w.view(K, N)
    try:
        if BACKWARD:
            gradient = dy.view(M, N)
            dx.copy_((gradient @ weight.T).view_as(dx))
            dw.copy_((rows.T @ gradient).view_as(dw))
        else:
            y.copy_((rows @ weight).view_as(y))
    finally:
        torch.backends.cuda.matmul.allow_tf32 = allowed


def work(*, M: int, K: int, N: int, BACKWARD: int) -> tuple[float, float]:
    """Least operations (2 M N K a product, of which backward has two) and least bytes."""
    both = 4.0 * (M * K + K * N)
    forward, backward = both + 4.0 * M * N, 2.0 * both + 4.0 * M * N
    return (4.0 if BACKWARD else 2.0) * M * K * N, backward if BACKWARD else forward
