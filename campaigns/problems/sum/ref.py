"""The sum of a vector of N values."""

from __future__ import annotations

from typing import Any

import torch


def setup(*, N: int, seed: int, device: str) -> dict[str, Any]:
    """Draw the vector from the standard normal distribution."""
    random = torch.Generator(device=device).manual_seed(seed)
    values = torch.randn(N, generator=random, device=device, dtype=torch.float32)
    output = torch.empty(1, device=device, dtype=torch.float32)
    return {"inputs": {"input": values, "output": output, "N": N}, "outputs": ["output"]}


def reference(*, input: torch.Tensor, output: torch.Tensor, N: int) -> None:
    """Write the sum of `input` into the one value of `output`, in the dtype they come in."""
    torch.sum(input.view(1, N), dim=1, out=output.view(1))


def work(*, N: int) -> tuple[float, float]:
    """Least operations (one addition per value) and least bytes."""
    return 1.0 * N, 4.0 * N + 4.0
