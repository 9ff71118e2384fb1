"""The sum of two N x D matrices in bfloat16, and the RMS norm of its rows, epsilon 1e-5."""

from __future__ import annotations

from typing import Any

import torch

EPSILON = 1e-5


def setup(*, N: int, D: int, seed: int, device: str) -> dict[str, Any]:
    """Draw an N x D input, a residual of the same shape and D weights around 1."""
    random = torch.Generator(device=device).manual_seed(seed)

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=random, device=device, dtype=torch.float32)

    x, residual = drawn(N, D).bfloat16(), drawn(N, D).bfloat16()
    inputs = {
        "x": x,
        "residual": residual,
        "weight": (1.0 + 0.1 * drawn(D)).bfloat16(),
        "total": torch.empty_like(x),
        "y": torch.empty_like(x),
        "N": N,
        "D": D,
    }
    return {"inputs": inputs, "outputs": ["total", "y"]}


def reference(
    *,
    x: torch.Tensor,
    residual: torch.Tensor,
    weight: torch.Tensor,
    total: torch.Tensor,
    y: torch.Tensor,
    N: int,
    D: int,
) -> None:
    """Write x + residual into total and its normalised rows into y, in the dtype they come in."""
    torch.add(x, residual, out=total)
    y.copy_(torch.nn.functional.rms_norm(total.view(N, D), (D,), weight, EPSILON).view_as(y))


def work(*, N: int, D: int) -> tuple[float, float]:
    """Least operations (1 for the sum, 2 for the mean square, 2 to apply) and least bytes."""
    return 5.0 * N * D, 8.0 * N * D + 2.0 * D
