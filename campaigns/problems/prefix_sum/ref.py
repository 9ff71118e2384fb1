"""The running sums of a vector of N values, each with its own value in it."""

from __future__ import annotations

from typing import Any

import torch


def setup(*, N: int, seed: int, device: str) -> dict[str, Any]:
    """Draw the vector from the standard normal distribution."""
    random = torch.Generator(device=device).manual_seed(seed)
    values = torch.randn(N, generator=random, device=device, dtype=torch.float32)
    inputs = {"input": values, "output": torch.empty_like(values), "N": N}
    return {"inputs": inputs, "outputs": ["output"]}


def reference(*, input: torch.Tensor, output: torch.Tensor, N: int) -> None:
    """Write the running sums of `input` into `output`, in the dtype they come in."""
    torch.cumsum(input, dim=0, out=output)


def work(*, N: int) -> tuple[float, float]:
    """Least operations (one addition per value) and least bytes."""
    return 1.0 * N, 8.0 * N
