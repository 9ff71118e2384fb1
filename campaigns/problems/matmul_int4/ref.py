"""C = A W with W of K x N in 4 bits and a scale for every 128 values of a column, all row-major.

Byte (k, n) of `packed`, K / 2 x N, holds W at row 2 k in its low half and at row 2 k + 1 in its
high half, each 8 more than the value: 0 stands for -8 and 15 for 7. `scales` is K / 128 x N.
"""

from __future__ import annotations

from typing import Any

import torch

GROUP = 128
# The root of the mean square of the numbers from -8 to 7.
USUAL = 4.637


def setup(*, M: int, K: int, N: int, seed: int, device: str) -> dict[str, Any]:
    """Draw A, the bytes and the scales, which make values of C about 1."""
    if K % GROUP:
        raise ValueError(f"K: {K}; a multiple of {GROUP} is accepted")
    random = torch.Generator(device=device).manual_seed(seed)
    left = torch.randn(M, K, generator=random, device=device, dtype=torch.float32)
    packed = torch.randint(0, 256, (K // 2, N), generator=random, device=device, dtype=torch.uint8)
    around = torch.rand(K // GROUP, N, generator=random, device=device, dtype=torch.float32) + 0.5
    inputs = {
        "A": left.to(torch.bfloat16),
        "packed": packed,
        "scales": (around * K**-0.5 / USUAL).to(torch.bfloat16),
        "C": torch.empty(M, N, device=device, dtype=torch.bfloat16),
        "M": M,
        "K": K,
        "N": N,
    }
    return {"inputs": inputs, "outputs": ["C"]}


def reference(
    *,
    A: torch.Tensor,
    packed: torch.Tensor,
    scales: torch.Tensor,
    C: torch.Tensor,
    M: int,
    K: int,
    N: int,
) -> None:
    """Write A times the unpacked weight into C, in the dtype they come in."""
    halves = packed.view(K // 2, 1, N)
    values = torch.cat([halves & 15, halves >> 4], dim=1).to(A.dtype) - 8
    weight = values.view(K // GROUP, GROUP, N) * scales.view(K // GROUP, 1, N)
    C.copy_((A.view(M, K) @ weight.view(K, N)).view_as(C))


def work(*, M: int, K: int, N: int) -> tuple[float, float]:
    """Least operations (one multiply and one add per term) and least bytes."""
    return 2.0 * M * K * N, 2.0 * (M * K + M * N) + K * N / 2 + 2.0 * (K // GROUP) * N
