"""The K largest of each of N rows of E float32 scores, and their places in the row."""

from __future__ import annotations

from typing import Any

import torch


def setup(*, N: int, E: int, K: int, seed: int, device: str) -> dict[str, Any]:
    """Draw N x E scores from the standard normal distribution; K of E at most can be wanted."""
    if K > E:
        raise ValueError(f"K = {K} of E = {E}")
    random = torch.Generator(device=device).manual_seed(seed)
    inputs = {
        "scores": torch.randn(N, E, generator=random, device=device, dtype=torch.float32),
        "values": torch.empty(N, K, device=device, dtype=torch.float32),
        "indices": torch.empty(N, K, device=device, dtype=torch.int32),
        "N": N,
        "E": E,
        "K": K,
    }
    return {"inputs": inputs, "outputs": ["values", "indices"]}


def reference(
    *,
    scores: torch.Tensor,
    values: torch.Tensor,
    indices: torch.Tensor,
    N: int,
    E: int,
    K: int,
) -> None:
    """Write the K largest of every row in falling order; the first of equal ones comes first."""
    ordered, places = torch.sort(scores.view(N, E), dim=1, descending=True, stable=True)
    values.copy_(ordered[:, :K].reshape(values.shape))
    indices.copy_(places[:, :K].reshape(indices.shape))


def work(*, N: int, E: int, K: int) -> tuple[float, float]:
    """Least operations (one comparison per score) and least bytes."""
    return 1.0 * N * E, 4.0 * N * E + 8.0 * N * K
