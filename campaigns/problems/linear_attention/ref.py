"""Causal linear attention without decay: o[t] = q[t] times the sum over s <= t of k[s]^T v[s].

q, k, v and o are B x H x S x D, row-major; each of the B H heads is by itself.
"""

from __future__ import annotations

from typing import Any

import torch

CHUNK = 64


def setup(*, B: int, H: int, S: int, D: int, seed: int, device: str) -> dict[str, Any]:
    """Draw q, k and v from normal distributions, scaled so that the last rows of o are about 1."""
    random = torch.Generator(device=device).manual_seed(seed)

    def drawn(scale: float) -> torch.Tensor:
        values = torch.randn(B, H, S, D, generator=random, device=device, dtype=torch.float32)
        return (values * scale).to(torch.bfloat16)

    inputs = {
        "q": drawn(D**-0.5),
        "k": drawn(S**-0.5),
        "v": drawn(1.0),
        "o": torch.empty(B, H, S, D, device=device, dtype=torch.bfloat16),
        "B": B,
        "H": H,
        "S": S,
        "D": D,
    }
    return {"inputs": inputs, "outputs": ["o"]}


def reference(
    *,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    o: torch.Tensor,
    B: int,
    H: int,
    S: int,
    D: int,
) -> None:
    """Write the attention into o; within chunks by their products, and before them by the state.

    Everything in between is float32, or float64 where the inputs are.
    """
    wide = torch.float64 if q.dtype is torch.float64 else torch.float32
    chunks = -(-S // CHUNK)

    def in_chunks(rows: torch.Tensor) -> torch.Tensor:
        filled = torch.nn.functional.pad(rows.view(B * H, S, D), (0, 0, 0, chunks * CHUNK - S))
        return filled.to(wide).view(B * H, chunks, CHUNK, D)

    queries, keys, values = in_chunks(q), in_chunks(k), in_chunks(v)
    within = torch.tril(queries @ keys.mT) @ values
    sums = keys.mT @ values
    before = sums.cumsum(dim=1) - sums
    answer = (within + queries @ before).view(B * H, chunks * CHUNK, D)[:, :S]
    o.copy_(answer.reshape(o.shape))


def work(*, B: int, H: int, S: int, D: int) -> tuple[float, float]:
    """Least operations (two products with a D x D state per row) and least bytes."""
    return 4.0 * B * H * S * D * D, 8.0 * B * H * S * D
