"""Gradients of a layer normalisation of N rows of D values in bfloat16, epsilon 1e-5."""

from __future__ import annotations

from typing import Any

import torch

EPSILON = 1e-5


def setup(*, N: int, D: int, seed: int, device: str) -> dict[str, Any]:
    """Draw the gradient, an input with a mean and deviation per row, and weights around 1.

    The mean and the inverse deviation are those of the input, as a forward pass saves them.
    """
    random = torch.Generator(device=device).manual_seed(seed)

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=random, device=device, dtype=torch.float32)

    dy = drawn(N, D).bfloat16()
    x = (drawn(N, D) * (1.0 + 0.2 * drawn(N, 1)) + 0.5 * drawn(N, 1)).bfloat16()
    weight = (1.0 + 0.1 * drawn(D)).bfloat16()
    variance, mean = torch.var_mean(x.float(), dim=1, correction=0)
    inputs = {
        "dy": dy,
        "x": x,
        "mean": mean,
        "rstd": torch.rsqrt(variance + EPSILON),
        "weight": weight,
        "dx": torch.empty_like(x),
        "dweight": torch.empty_like(weight),
        "dbias": torch.empty_like(weight),
        "N": N,
        "D": D,
    }
    return {"inputs": inputs, "outputs": ["dx", "dweight", "dbias"]}


def reference(
    *,
    dy: torch.Tensor,
    x: torch.Tensor,
    mean: torch.Tensor,
    rstd: torch.Tensor,
    weight: torch.Tensor,
    dx: torch.Tensor,
    dweight: torch.Tensor,
    dbias: torch.Tensor,
    N: int,
    D: int,
) -> None:
    """Write the three gradients, computed in the dtype of `mean`.

    With n = (x - mean) rstd they are dx = rstd (w dy - mean(w dy) - n mean(w dy n)) for each row,
    dweight = sum(dy n) and dbias = sum(dy) over all rows.
    """
    wide, scale = mean.dtype, rstd.view(N, 1)
    gradient = dy.view(N, D).to(wide)
    normal = (x.view(N, D).to(wide) - mean.view(N, 1)) * scale
    scaled = gradient * weight.to(wide)
    parallel = (scaled * normal).mean(dim=1, keepdim=True)
    rows = (scaled - scaled.mean(dim=1, keepdim=True) - normal * parallel) * scale
    dx.copy_(rows.view_as(dx))
    dweight.copy_((gradient * normal).sum(dim=0))
    dbias.copy_(gradient.sum(dim=0))


def work(*, N: int, D: int) -> tuple[float, float]:
    """Least operations and least bytes.

    2 for the normalised value, 1 for the scaled gradient, 3 for the two means, 4 for dx, 3 for the
    other two gradients.
    """
    return 13.0 * N * D, 6.0 * N * D + 8.0 * N + 6.0 * D
