"""Multi-head attention without a mask: softmax(q k^T / sqrt(D)) v, all of them [B, H, S, D]."""

from __future__ import annotations

from typing import Any

import torch


def setup(*, B: int, H: int, S: int, D: int, seed: int, device: str) -> dict[str, Any]:
    """Draw q, k and v from the standard normal distribution."""
    random = torch.Generator(device=device).manual_seed(seed)

    def drawn() -> torch.Tensor:
        return torch.randn(B, H, S, D, generator=random, device=device, dtype=torch.float32)

    q = drawn()
    tensors = {"q": q, "k": drawn(), "v": drawn(), "o": torch.empty_like(q)}
    return {"inputs": {**tensors, "B": B, "H": H, "S": S, "D": D}, "outputs": ["o"]}


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
    """Write the attention into `o`, in the dtype they come in; float32 is never rounded to TF32.

    One sequence at a time, because the scores of all of them take much memory.
    """
    allowed = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        for b in range(B):
            queries, keys, values = (x.view(B, H, S, D)[b] for x in (q, k, v))
            scores = (queries * D**-0.5) @ keys.mT
            o.view(B, H, S, D)[b] = torch.softmax(scores, dim=-1) @ values
    finally:
        torch.backends.cuda.matmul.allow_tf32 = allowed


def work(*, B: int, H: int, S: int, D: int) -> tuple[float, float]:
    """Least operations (two products) and least bytes."""
    return 4.0 * B * H * S * S * D, 16.0 * B * H * S * D
