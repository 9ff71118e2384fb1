"""N rows of a table of V rows of D values in bfloat16, chosen by int32 ids."""

from __future__ import annotations

from typing import Any

import torch


def setup(*, V: int, N: int, D: int, seed: int, device: str) -> dict[str, Any]:
    """Draw the table from the standard normal distribution, and N ids of its rows."""
    random = torch.Generator(device=device).manual_seed(seed)
    inputs = {
        "table": torch.randn(V, D, generator=random, device=device, dtype=torch.bfloat16),
        "ids": torch.randint(V, (N,), generator=random, device=device, dtype=torch.int32),
        "output": torch.empty(N, D, device=device, dtype=torch.bfloat16),
        "V": V,
        "N": N,
        "D": D,
    }
    return {"inputs": inputs, "outputs": ["output"]}


def reference(
    *, table: torch.Tensor, ids: torch.Tensor, output: torch.Tensor, V: int, N: int, D: int
) -> None:
    """Write the row of the table that each id names into `output`."""
    output.copy_(torch.nn.functional.embedding(ids, table.view(V, D)).view_as(output))


def work(*, V: int, N: int, D: int) -> tuple[float, float]:
    """No operations, and least bytes: the ids, and as much of the table as they can name."""
    # An id that is drawn twice is read once: so many different ones are expected of N draws.
    named = V * (1.0 - (1.0 - 1.0 / V) ** N)
    return 0.0, 2.0 * named * D + 2.0 * N * D + 4.0 * N
