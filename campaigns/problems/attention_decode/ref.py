"""Paged attention while decoding: one query per sequence, keys and values in pages of 16 tokens.

q and o are [B, H, D], k_pages and v_pages are [B * PAGES, 16, HKV, D], lengths is [B] and
block_table is [B, PAGES]. Token t of sequence b lies in page block_table[b, t // 16], at place
t % 16. Every entry of the table names a page, and no two name the same; what lies beyond a
sequence's length must not matter. Query head h reads the keys and values of head h // (H / HKV).
"""

from __future__ import annotations

from typing import Any

import torch

PAGE = 16


def lengths_of(B: int, S: int) -> list[int]:
    """How many tokens the sequences have, the longest S: the same sum in every draw."""
    return [max(1, S * (i + 1) // B - (B - 1 - i) % PAGE) for i in range(B)]


def setup(*, B: int, H: int, HKV: int, S: int, D: int, seed: int, device: str) -> dict[str, Any]:
    """Draw q, all pages, which sequence has which length and where its pages lie."""
    random = torch.Generator(device=device).manual_seed(seed)

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=random, device=device, dtype=torch.bfloat16)

    def order(count: int) -> torch.Tensor:
        return torch.randperm(count, generator=random, device=device)

    pages = -(-S // PAGE)
    q = drawn(B, H, D)
    lengths = torch.tensor(lengths_of(B, S), device=device, dtype=torch.int32)
    inputs = {
        "q": q,
        "k_pages": drawn(B * pages, PAGE, HKV, D),
        "v_pages": drawn(B * pages, PAGE, HKV, D),
        "block_table": order(B * pages).to(torch.int32).view(B, pages),
        "lengths": lengths[order(B)],
        "o": torch.empty_like(q),
        "B": B,
        "H": H,
        "HKV": HKV,
        "D": D,
        "PAGES": pages,
        "PAGE": PAGE,
    }
    return {"inputs": inputs, "outputs": ["o"]}


def reference(
    *,
    q: torch.Tensor,
    k_pages: torch.Tensor,
    v_pages: torch.Tensor,
    block_table: torch.Tensor,
    lengths: torch.Tensor,
    o: torch.Tensor,
    B: int,
    H: int,
    HKV: int,
    D: int,
    PAGES: int,
    PAGE: int,
) -> None:
    """Write the attention into `o`, in the dtype they come in; bfloat16 is computed in float32."""
    wide = torch.promote_types(q.dtype, torch.float32)
    pages = block_table.view(-1).long()

    def tokens(table: torch.Tensor) -> torch.Tensor:
        """[B, HKV, tokens, D] of every sequence."""
        rows = table.view(-1, PAGE, HKV, D)[pages].view(B, PAGES * PAGE, HKV, D)
        return rows.transpose(1, 2).to(wide)

    queries = q.view(B, HKV, H // HKV, D).to(wide) * D**-0.5
    scores = queries @ tokens(k_pages).mT
    places = torch.arange(PAGES * PAGE, device=q.device)
    beyond = places >= lengths.view(B, 1, 1, 1)
    shares = torch.softmax(scores.masked_fill(beyond, -torch.inf), dim=-1)
    o.copy_((shares @ tokens(v_pages)).view_as(o))


def work(*, B: int, H: int, HKV: int, S: int, D: int) -> tuple[float, float]:
    """Least operations (two products) and least bytes, of the tokens that there are."""
    lengths = lengths_of(B, S)
    tokens, pages = sum(lengths), sum(-(-length // PAGE) for length in lengths)
    integers = 4.0 * (B + pages)
    return 4.0 * H * D * tokens, 4.0 * HKV * D * tokens + 4.0 * B * H * D + integers
