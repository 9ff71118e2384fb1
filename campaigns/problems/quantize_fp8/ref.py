"""Rows of an N x D matrix in bfloat16 rounded to float8_e4m3fn, with a float32 scale each."""

from __future__ import annotations

from typing import Any

import torch

# The largest number of float8_e4m3fn, and the least magnitude that a row counts as having.
LARGEST = 448.0
LEAST = 1e-10


def setup(*, N: int, D: int, seed: int, device: str) -> dict[str, Any]:
    """Draw an N x D input from the standard normal distribution."""
    random = torch.Generator(device=device).manual_seed(seed)
    x = torch.randn(N, D, generator=random, device=device, dtype=torch.float32).bfloat16()
    inputs = {
        "x": x,
        "q": torch.empty(N, D, device=device, dtype=torch.uint8),
        "scale": torch.empty(N, device=device, dtype=torch.float32),
        "N": N,
        "D": D,
    }
    return {"inputs": inputs, "outputs": ["q", "scale"]}


def reference(*, x: torch.Tensor, q: torch.Tensor, scale: torch.Tensor, N: int, D: int) -> None:
    """Write every row over its scale, as the bytes of a float8, computed in the scale's dtype."""
    rows = x.view(N, D).to(scale.dtype)
    scales = rows.abs().amax(dim=1, keepdim=True).clamp_min(LEAST) / LARGEST
    scale.copy_(scales.view_as(scale))
    shortened = (rows / scales).clamp(-LARGEST, LARGEST).to(torch.float8_e4m3fn)
    q.copy_(shortened.view(torch.uint8).view_as(q))


def work(*, N: int, D: int) -> tuple[float, float]:
    """Least operations (compare, scale per value) and least bytes."""
    return 2.0 * N * D, 3.0 * N * D + 4.0 * N
