"""The transpose of an N x D matrix in bfloat16."""

from __future__ import annotations

from typing import Any

import torch


def setup(*, N: int, D: int, seed: int, device: str) -> dict[str, Any]:
    """Draw an N x D input from the standard normal distribution."""
    random = torch.Generator(device=device).manual_seed(seed)
    values = torch.randn(N, D, generator=random, device=device, dtype=torch.float32).bfloat16()
    output = torch.empty(D, N, device=device, dtype=torch.bfloat16)
    inputs = {"input": values, "output": output, "N": N, "D": D}
    return {"inputs": inputs, "outputs": ["output"]}


def reference(*, input: torch.Tensor, output: torch.Tensor, N: int, D: int) -> None:
    """Write the columns of `input` as the rows of `output`."""
    output.copy_(input.view(N, D).T.reshape(output.shape))


def work(*, N: int, D: int) -> tuple[float, float]:
    """No operations, and least bytes."""
    return 0.0, 4.0 * N * D
