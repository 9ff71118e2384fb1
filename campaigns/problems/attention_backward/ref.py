"""Gradients of causal attention o = softmax(q k^T / sqrt(D)) v, all of them [B, H, S, D].

dout is the gradient of o, and lse, [B, H, S] in float32, has the natural logarithm of each query's
sum of exponentials. With p = exp(q k^T / sqrt(D) - lse), zero where a key comes after the query:

    dv = p^T dout
    ds = p * (dout v^T - rowsum(dout * o))
    dq = ds k / sqrt(D)
    dk = ds^T q / sqrt(D)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

# How far o and lse may be from what q, k and v make of them, for a kernel that computes them anew.
O_OFF, LSE_OFF = 1e-2, 1e-3


def heads_of(*tensors: torch.Tensor, B: int, H: int, S: int) -> Iterator[list[torch.Tensor]]:
    """The same head of each, one head after the other: the scores of all take too much memory."""
    flat = [tensor.view(B * H, S, -1) for tensor in tensors]
    for head in range(B * H):
        yield [tensor[head] for tensor in flat]


def scores_of(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """The scores of one head, of which those of later keys are minus infinity."""
    later = torch.ones(len(q), len(q), dtype=torch.bool, device=q.device).triu(1)
    return ((q * q.shape[-1] ** -0.5) @ k.T).masked_fill(later, -torch.inf)


def forward(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, B: int, H: int, S: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """o and lse in float32."""
    o, lse = [], []
    for queries, keys, values in heads_of(q.float(), k.float(), v.float(), B=B, H=H, S=S):
        scores = scores_of(queries, keys)
        lse.append(torch.logsumexp(scores, dim=-1))
        o.append(torch.softmax(scores, dim=-1) @ values)
    return torch.stack(o).view_as(q), torch.stack(lse).view(B, H, S)


def setup(*, B: int, H: int, S: int, D: int, seed: int, device: str) -> dict[str, Any]:
    """Draw q, k, v and dout from the standard normal distribution, and compute o and lse."""
    random = torch.Generator(device=device).manual_seed(seed)

    def drawn() -> torch.Tensor:
        return torch.randn(B, H, S, D, generator=random, device=device, dtype=torch.bfloat16)

    q, k, v = drawn(), drawn(), drawn()
    o, lse = forward(q, k, v, B=B, H=H, S=S)
    inputs = {
        "dout": drawn(),
        "q": q,
        "k": k,
        "v": v,
        "o": o.to(q.dtype),
        "lse": lse,
        "dq": torch.empty_like(q),
        "dk": torch.empty_like(k),
        "dv": torch.empty_like(v),
        "B": B,
        "H": H,
        "S": S,
        "D": D,
    }
    return {"inputs": inputs, "outputs": ["dq", "dk", "dv"]}


def reference(
    *,
    dout: torch.Tensor,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    o: torch.Tensor,
    lse: torch.Tensor,
    dq: torch.Tensor,
    dk: torch.Tensor,
    dv: torch.Tensor,
    B: int,
    H: int,
    S: int,
    D: int,
) -> None:
    """Write dq, dk and dv, in the dtype they come in; bfloat16 is computed in float32."""
    wide = torch.promote_types(q.dtype, torch.float32)
    given = (tensor.to(wide) for tensor in (dout, q, k, v, o, lse))
    answers = heads_of(dq, dk, dv, B=B, H=H, S=S)
    for head, (of_q, of_k, of_v) in zip(heads_of(*given, B=B, H=H, S=S), answers, strict=True):
        gradient, queries, keys, values, answer, logs = head
        shares = torch.exp(scores_of(queries, keys) - logs)
        of_v.copy_(shares.T @ gradient)
        delta = (gradient * answer).sum(dim=-1, keepdim=True)
        changes = shares * (gradient @ values.T - delta) * D**-0.5
        of_q.copy_(changes @ keys)
        of_k.copy_(changes.T @ queries)


def valid(
    *,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    o: torch.Tensor,
    lse: torch.Tensor,
    B: int,
    H: int,
    S: int,
    **_: Any,
) -> bool:
    """Say whether o and lse are those of q, k and v."""
    exact, logs = forward(q, k, v, B=B, H=H, S=S)
    near = torch.allclose(o.view_as(q).float(), exact, rtol=O_OFF, atol=O_OFF)
    return near and torch.allclose(lse.view_as(logs), logs, rtol=LSE_OFF, atol=LSE_OFF)


def work(*, B: int, H: int, S: int, D: int) -> tuple[float, float]:
    """Least operations (five products, of what the mask leaves) and least bytes."""
    pairs = S * (S + 1) / 2
    return 10.0 * B * H * pairs * D, 16.0 * B * H * S * D + 4.0 * B * H * S
