"""Cross entropy of N rows of V logits in bfloat16, one float32 loss per row."""

from __future__ import annotations

from typing import Any

import torch


def setup(*, N: int, V: int, seed: int, device: str) -> dict[str, Any]:
    """Draw N x V logits from the standard normal distribution, and a target for each row."""
    random = torch.Generator(device=device).manual_seed(seed)
    logits = torch.randn(N, V, generator=random, device=device, dtype=torch.bfloat16)
    targets = torch.randint(V, (N,), generator=random, device=device, dtype=torch.int64)
    losses = torch.empty(N, device=device, dtype=torch.float32)
    inputs = {"logits": logits, "targets": targets, "losses": losses, "N": N, "V": V}
    return {"inputs": inputs, "outputs": ["losses"]}


def reference(
    *, logits: torch.Tensor, targets: torch.Tensor, losses: torch.Tensor, N: int, V: int
) -> None:
    """Write the loss of every row into `losses`, computed in the dtype that these come in."""
    rows = logits.view(N, V).to(losses.dtype)
    losses.copy_(torch.nn.functional.cross_entropy(rows, targets, reduction="none"))


def work(*, N: int, V: int) -> tuple[float, float]:
    """Least operations (compare, subtract, exp, add per logit) and least bytes."""
    return 4.0 * N * V, 2.0 * N * V + 12.0 * N
