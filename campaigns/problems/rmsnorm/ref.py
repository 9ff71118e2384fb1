"""RMS normalisation over the rows of an N x D matrix in bfloat16, epsilon 1e-5."""

from __future__ import annotations

from typing import Any

import torch

EPSILON = 1e-5


def setup(*, N: int, D: int, seed: int, device: str) -> dict[str, Any]:
    """Draw an N x D input and D weights around 1."""
    random = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(N, D, generator=random, device=device, dtype=torch.float32)
    weight = 1.0 + 0.1 * torch.randn(D, generator=random, device=device, dtype=torch.float32)
    x, weight = x.bfloat16(), weight.bfloat16()
    inputs = {"x": x, "weight": weight, "y": torch.empty_like(x), "N": N, "D": D}
    return {"inputs": inputs, "outputs": ["y"]}


def reference(*, x: torch.Tensor, weight: torch.Tensor, y: torch.Tensor, N: int, D: int) -> None:
    """Write the normalised rows of x into y, in the dtype they come in."""
    y.copy_(torch.nn.functional.rms_norm(x.view(N, D), (D,), weight, EPSILON).view_as(y))


def work(*, N: int, D: int) -> tuple[float, float]:
    """Least operations (2 for the mean square, 2 to apply) and least bytes."""
    return 4.0 * N * D, 4.0 * N * D + 2.0 * D
