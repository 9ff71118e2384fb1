"""The least operations of a reference, counted while it runs on tensors without contents.

Matrix products, convolutions and attention have formulas (`torch.utils.flop_counter`). Any other
operator does one operation for each element of its largest tensor. Where neither is true, as for a
factorisation, nobody knows the number, and the operator is named.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

MOVES = ("copy", "view", "empty", "clone", "prim.", "_check", "_local_scalar")
# These read a part of a table.
PICKS = ("index", "gather", "embedding", "take", "nll_loss")
# These do more than an operation an element. Those of which torch has a formula are counted by it.
LARGE = re.compile(
    r"linalg_(?!vector_norm|cross)|cholesky|solve|inverse|svd|geqrf|orgqr|ormqr|fft|cdist|lstm|gru|rnn|conv|attention|mm$|mm_"
)


class Operations(NamedTuple):
    """least: operations at the least. unknown: operators of which nobody knows the number."""

    least: float
    unknown: tuple[str, ...] = ()


def count_operations(run: Callable[[], object]) -> Operations:
    """Count what `run` does, on whatever tensors it has. Raises what it raises."""
    with _Operators() as operators, _Attention(operators):
        run()
    return Operations(float(operators.total), tuple(sorted(operators.unknown)))


class QuickMode(TorchDispatchMode):  # type: ignore[misc]  # torch types it as Any
    """One that does not import a compiler with the first operator, which takes seconds."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


class _Operators(QuickMode):
    """Counts by torch's formula, and one operation for each element where there is none."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0
        self.unknown: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = str(func.overloadpacket)
        if formula := flop_registry.get(func.overloadpacket):
            self.total += formula(*args, **(kwargs or {}), out_val=result)
            return result
        if func.is_view or any(move in name for move in MOVES):
            return result
        if func.namespace != "aten" or LARGE.search(name):
            self.unknown.add(name)
        else:
            made = result if isinstance(result, tuple | list) else [result]
            read = () if any(pick in name for pick in PICKS) else args
            sizes = [one.numel() for one in (*made, *read) if isinstance(one, torch.Tensor)]
            self.total += max(sizes, default=0)
        return result


class _Attention(TorchFunctionMode):  # type: ignore[misc]  # torch types it as Any
    """Counts attention by its two products, of which a causal one needs those before the diagonal.

    What torch makes of it is left out: it differs by device, and on a CPU has no formula.
    """

    def __init__(self, operators: _Operators) -> None:
        super().__init__()
        self._operators = operators

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is not torch.nn.functional.scaled_dot_product_attention:
            return func(*args, **(kwargs or {}))
        total, unknown = self._operators.total, set(self._operators.unknown)
        result = func(*args, **(kwargs or {}))
        self._operators.total = total + _products_of(*args, **(kwargs or {}))
        self._operators.unknown = unknown
        return result


def _products_of(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: object = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    **others: object,
) -> int:
    """Operations of both products; query: [..., L, E], key: [..., S, E], value: [..., S, V]."""
    long, short = query.shape[-2], key.shape[-2]
    # Query i sees keys up to i.
    rows = min(long, short)
    pairs = rows * (rows + 1) // 2 + (long - rows) * short if is_causal else long * short
    return int(2 * prod(query.shape[:-2]) * pairs * (query.shape[-1] + value.shape[-1]))
