"""Attention of B sequences of S tokens: softmax(q k^T / sqrt(D)) v, with or without a causal mask.

q and o are [B, H, S, D], k and v are [B, HKV, S, D]. Query head h reads the keys and values of head
h // (H / HKV).
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention


def setup(
    *, B: int, H: int, HKV: int, S: int, D: int, CAUSAL: int, seed: int, device: str
) -> dict[str, Any]:
    """Draw q, k and v from the standard normal distribution."""
    random = torch.Generator(device=device).manual_seed(seed)

    def drawn(heads: int) -> torch.Tensor:
        shape = (B, heads, S, D)
        return torch.randn(shape, generator=random, device=device, dtype=torch.bfloat16)

    q = drawn(H)
    sizes = {"B": B, "H": H, "HKV": HKV, "S": S, "D": D, "CAUSAL": CAUSAL}
    tensors = {"q": q, "k": drawn(HKV), "v": drawn(HKV), "o": torch.empty_like(q)}
    return {"inputs": {**tensors, **sizes}, "outputs": ["o"]}


def reference(
    *,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    o: torch.Tensor,
    B: int,
    H: int,
    HKV: int,
    S: int,
    D: int,
    CAUSAL: int,
) -> None:
    """Write the attention into `o`, in the dtype they come in."""
    queries = q.view(B, H, S, D)
    keys, values = k.view(B, HKV, S, D), v.view(B, HKV, S, D)
    if q.dtype is not torch.float64:
        found = scaled_dot_product_attention(
            queries, keys, values, is_causal=bool(CAUSAL), enable_gqa=True
        )
        o.copy_(found.view_as(o))
        return
    # In float64 torch writes the scores to memory, which those of all heads would not fit.
    found, group = o.view(B, H, S, D), H // HKV
    for b in range(B):
        for h in range(H):
            head, shared = slice(h, h + 1), slice(h // group, h // group + 1)
            found[b, head] = scaled_dot_product_attention(
                queries[b, head], keys[b, shared], values[b, shared], is_causal=bool(CAUSAL)
            )


def work(*, B: int, H: int, HKV: int, S: int, D: int, CAUSAL: int) -> tuple[float, float]:
    """Least operations (two products, of what the mask leaves) and least bytes."""
    pairs = S * (S + 1) / 2 if CAUSAL else S * S
    return 4.0 * B * H * pairs * D, 2.0 * (2 * B * H * S * D + 2 * B * HKV * S * D)
