"""Rotary position embedding of q and k, by halves: (a, b) becomes (a cos - b sin, b cos + a sin).

q is [B, S, H, D] and k is [B, S, HKV, D]; a is the first half of a head and b the second. cos and
sin are [S, D / 2] in float32, the same for all sequences and heads.
"""

from __future__ import annotations

from typing import Any

import torch

# Llama 3 has this base. A sequence may have come so far before its first token here.
BASE, LAST_START = 500_000.0, 4096


def setup(*, B: int, S: int, H: int, HKV: int, D: int, seed: int, device: str) -> dict[str, Any]:
    """Draw q and k from the standard normal distribution, and the place of the first token."""
    random = torch.Generator(device=device).manual_seed(seed)

    def drawn(heads: int) -> torch.Tensor:
        shape = (B, S, heads, D)
        return torch.randn(shape, generator=random, device=device, dtype=torch.bfloat16)

    start = torch.randint(LAST_START, (1,), generator=random, device=device)
    places = (start + torch.arange(S, device=device)).to(torch.float64)
    speeds = BASE ** (torch.arange(D // 2, device=device, dtype=torch.float64) * (-2 / D))
    angles = torch.outer(places, speeds)
    q, k = drawn(H), drawn(HKV)
    inputs = {
        "q": q,
        "k": k,
        "cos": angles.cos().to(torch.float32),
        "sin": angles.sin().to(torch.float32),
        "q_out": torch.empty_like(q),
        "k_out": torch.empty_like(k),
        "B": B,
        "S": S,
        "H": H,
        "HKV": HKV,
        "D": D,
    }
    return {"inputs": inputs, "outputs": ["q_out", "k_out"]}


def turned(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """x is [B, S, heads, D]; the tables are [S, 1, D / 2]."""
    a, b = x.to(cos.dtype).chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


def reference(
    *,
    q: torch.Tensor,
    k: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    q_out: torch.Tensor,
    k_out: torch.Tensor,
    B: int,
    S: int,
    H: int,
    HKV: int,
    D: int,
) -> None:
    """Write q and k, turned, into `q_out` and `k_out`, in the dtype they come in."""
    tables = cos.view(S, 1, D // 2), sin.view(S, 1, D // 2)
    q_out.copy_(turned(q.view(B, S, H, D), *tables).view_as(q_out))
    k_out.copy_(turned(k.view(B, S, HKV, D), *tables).view_as(k_out))


def work(*, B: int, S: int, H: int, HKV: int, D: int) -> tuple[float, float]:
    """Least operations (two products and a sum per value) and least bytes."""
    values = B * S * (H + HKV) * D
    return 3.0 * values, 4.0 * values + 4.0 * S * D
