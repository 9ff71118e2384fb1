"""SiLU of a gate times another tensor of the same shape, N x D values in bfloat16."""

from __future__ import annotations

from typing import Any

import torch


def setup(*, N: int, D: int, seed: int, device: str) -> dict[str, Any]:
    """Draw both tensors from the standard normal distribution."""
    random = torch.Generator(device=device).manual_seed(seed)
    gate = torch.randn(N, D, generator=random, device=device, dtype=torch.float32).bfloat16()
    up = torch.randn(N, D, generator=random, device=device, dtype=torch.float32).bfloat16()
    inputs = {"gate": gate, "up": up, "output": torch.empty_like(gate), "N": N, "D": D}
    return {"inputs": inputs, "outputs": ["output"]}


def reference(
    *, gate: torch.Tensor, up: torch.Tensor, output: torch.Tensor, N: int, D: int
) -> None:
    """Write silu(gate) * up into output, in the dtype they come in."""
    torch.mul(torch.nn.functional.silu(gate), up, out=output)


def work(*, N: int, D: int) -> tuple[float, float]:
    """Least operations (exp, add, divide, multiply per value) and least bytes."""
    return 4.0 * N * D, 6.0 * N * D
