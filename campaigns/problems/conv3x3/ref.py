"""Convolution of 3 x 3 with stride 1 and padding 1, channels last.

x is N x H x W x C, filters are F x 3 x 3 x C, and y is N x H x W x F, all row-major.
"""

from __future__ import annotations

from typing import Any

import torch


def setup(*, N: int, H: int, W: int, C: int, F: int, seed: int, device: str) -> dict[str, Any]:
    """Draw x and filters from normal distributions, scaled so that values of y are about 1."""
    random = torch.Generator(device=device).manual_seed(seed)
    images = torch.randn(N, H, W, C, generator=random, device=device, dtype=torch.float32)
    filters = torch.randn(F, 3, 3, C, generator=random, device=device, dtype=torch.float32)
    inputs = {
        "x": images.to(torch.bfloat16),
        "filters": (filters * (9 * C) ** -0.5).to(torch.bfloat16),
        "y": torch.empty(N, H, W, F, device=device, dtype=torch.bfloat16),
        "N": N,
        "H": H,
        "W": W,
        "C": C,
        "F": F,
    }
    return {"inputs": inputs, "outputs": ["y"]}


def reference(
    *,
    x: torch.Tensor,
    filters: torch.Tensor,
    y: torch.Tensor,
    N: int,
    H: int,
    W: int,
    C: int,
    F: int,
) -> None:
    """Write the convolution of x with filters into y, in the dtype they come in."""
    images = x.view(N, H, W, C).permute(0, 3, 1, 2)
    weight = filters.view(F, 3, 3, C).permute(0, 3, 1, 2)
    maps = torch.nn.functional.conv2d(images, weight, padding=1)
    y.copy_(maps.permute(0, 2, 3, 1).reshape(y.shape))


def work(*, N: int, H: int, W: int, C: int, F: int) -> tuple[float, float]:
    """Least operations (of terms that lie inside of an image) and least bytes."""
    terms = N * (3 * H - 2) * (3 * W - 2) * C * F
    return 2.0 * terms, 2.0 * (N * H * W * C + 9 * C * F + N * H * W * F)
