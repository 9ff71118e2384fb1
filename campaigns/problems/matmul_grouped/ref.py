"""Each group of rows of A times the matrix of its expert: C[rows of e] = A[rows of e] B[e].

A is T x K, B is E x K x N and C is T x N, all row-major. Rows of expert e are those from
offsets[e] up to, and without, offsets[e + 1].
"""

from __future__ import annotations

import math
import random
from typing import Any

import torch


def setup(
    *, T: int, K: int, N: int, E: int, distribution: str, seed: int, device: str
) -> dict[str, Any]:
    """Draw the sizes of the groups, and A and B so that values of C are about 1."""
    generator = torch.Generator(device=device).manual_seed(seed)
    rows = torch.randn(T, K, generator=generator, device=device, dtype=torch.float32)
    experts = torch.randn(E, K, N, generator=generator, device=device, dtype=torch.float32)
    sizes = _sizes(T, E, distribution, random.Random(seed))
    offsets = torch.tensor([0, *sizes], device=device, dtype=torch.int32)
    inputs = {
        "A": rows.to(torch.bfloat16),
        "B": (experts * K**-0.5).to(torch.bfloat16),
        "offsets": offsets.cumsum(0, dtype=torch.int32),
        "C": torch.empty(T, N, device=device, dtype=torch.bfloat16),
        "T": T,
        "K": K,
        "N": N,
        "E": E,
    }
    return {"inputs": inputs, "outputs": ["C"], "group_sizes": sizes}


def _sizes(T: int, E: int, distribution: str, draw: random.Random) -> list[int]:
    """How many of the T rows each of the E groups has."""
    if distribution == "half_in_one":
        first = (T + 1) // 2 + draw.randint(0, T // 8)
        sizes = [first, *_shared(T - first, [T] * (E - 1), draw)]
    elif distribution == "empty_group":
        sizes = [0, *_shared(T, [T] * (E - 1), draw)]
    elif distribution == "k1_cf1.25":
        sizes = _shared(T, [math.ceil(1.25 * (T / E))] * E, draw)
    elif distribution == "k2_cf1.0":
        sizes = _shared(T, [math.ceil(T / E)] * E, draw)
    else:
        sizes = [T // E + (e < T % E) for e in range(E)]
    draw.shuffle(sizes)
    return sizes


def _shared(rows: int, most: list[int], draw: random.Random) -> list[int]:
    """Share rows by drawn weights, where group e takes at most most[e] of them."""
    weights = [draw.uniform(0.2, 1.0) for _ in most]
    total = sum(weights)
    sizes = [min(top, int(rows * w / total)) for top, w in zip(most, weights, strict=True)]
    while sum(sizes) < rows:
        e = draw.randrange(len(most))
        sizes[e] += sizes[e] < most[e]
    return sizes


def reference(
    *,
    A: torch.Tensor,
    B: torch.Tensor,
    offsets: torch.Tensor,
    C: torch.Tensor,
    T: int,
    K: int,
    N: int,
    E: int,
) -> None:
    """Write the product of each group into its rows of C, in the dtype they come in."""
    rows, experts, products = A.view(T, K), B.view(E, K, N), C.view(T, N)
    ends = offsets.tolist()
    for e in range(E):
        group = slice(ends[e], ends[e + 1])
        products[group] = rows[group] @ experts[e]


def work(*, T: int, K: int, N: int, E: int, distribution: str) -> tuple[float, float]:
    """Least operations, and least bytes: an expert without rows need not be read."""
    used = E - 1 if distribution == "empty_group" else E
    used = min(used, T)
    return 2.0 * T * K * N, 2.0 * (T * K + used * K * N + T * N) + 4.0 * (E + 1)
