"""C = A B^T of float8 values with a scale for each row of A (M x K) and of B (N x K), row-major."""

from __future__ import annotations

from typing import Any

import torch

LARGEST = 448.0


def setup(*, M: int, K: int, N: int, seed: int, device: str) -> dict[str, Any]:
    """Draw A and B from normal distributions and round them to float8 by rows, given as bits.

    The scale of a row makes its largest value the largest of float8_e4m3fn. B is scaled so that
    values of C are about 1.
    """
    random = torch.Generator(device=device).manual_seed(seed)

    def drawn(rows: int, scale: float) -> tuple[torch.Tensor, torch.Tensor]:
        values = torch.randn(rows, K, generator=random, device=device, dtype=torch.float32) * scale
        scales = values.abs().amax(dim=1) / LARGEST
        short = (values / scales[:, None]).clamp(-LARGEST, LARGEST).to(torch.float8_e4m3fn)
        return short.view(torch.uint8), scales

    left, left_scales = drawn(M, 1.0)
    right, right_scales = drawn(N, K**-0.5)
    inputs = {
        "A": left,
        "B": right,
        "a_scale": left_scales,
        "b_scale": right_scales,
        "C": torch.empty(M, N, device=device, dtype=torch.bfloat16),
        "M": M,
        "K": K,
        "N": N,
    }
    return {"inputs": inputs, "outputs": ["C"]}


def reference(
    *,
    A: torch.Tensor,
    B: torch.Tensor,
    a_scale: torch.Tensor,
    b_scale: torch.Tensor,
    C: torch.Tensor,
    M: int,
    K: int,
    N: int,
) -> None:
    """Write the product of the scaled rows into C; it is summed in float32, or in float64."""
    wide = torch.float64 if a_scale.dtype is torch.float64 else torch.float32
    left = A.view(M, K).view(torch.float8_e4m3fn).to(wide)
    right = B.view(N, K).view(torch.float8_e4m3fn).to(wide)
    scales = a_scale.view(M, 1).to(wide) * b_scale.view(1, N).to(wide)
    C.copy_(((left @ right.T) * scales).view_as(C))


def work(*, M: int, K: int, N: int) -> tuple[float, float]:
    """Least operations (the product, and two scales per value) and least bytes."""
    return 2.0 * M * K * N + 2.0 * M * N, M * K + K * N + 4.0 * (M + N) + 2.0 * M * N
