"""How often each of the 256 bytes occurs in a vector of N of them."""

from __future__ import annotations

from typing import Any

import torch

BINS = 256


def setup(*, N: int, seed: int, device: str) -> dict[str, Any]:
    """Draw N bytes, some of which are far more frequent than others, as in a picture."""
    random = torch.Generator(device=device).manual_seed(seed)
    centre, width = torch.rand(2, generator=random, device=device).tolist()
    drawn = torch.randn(N, generator=random, device=device, dtype=torch.float32)
    levels = 64 + 128 * centre + (16 + 48 * width) * drawn
    values = levels.round_().clamp_(0, BINS - 1).to(torch.uint8)
    counts = torch.empty(BINS, device=device, dtype=torch.int32)
    return {"inputs": {"values": values, "counts": counts, "N": N}, "outputs": ["counts"]}


def reference(*, values: torch.Tensor, counts: torch.Tensor, N: int) -> None:
    """Write how often each byte occurs into `counts`."""
    counts.copy_(torch.bincount(values.view(N), minlength=BINS).view_as(counts))


def work(*, N: int) -> tuple[float, float]:
    """Least operations (one addition per byte) and least bytes."""
    return 1.0 * N, 1.0 * N + 4.0 * BINS
