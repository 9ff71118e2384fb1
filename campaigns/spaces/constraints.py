"""What has to hold between knobs: the limits of a device, and what the source itself demands."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

from campaigns.evaluator.contract import Param
from campaigns.spaces.expressions import names_of, python_expression, resolved, value_of
from campaigns.spaces.space import Knob, KnobConstraint

# Points of which a constraint is looked at before it is kept for good.
MOST_LOOKS = 2000


@dataclass(frozen=True, slots=True)
class DeviceLimits:
    """What a device can do, from cited values; None where it is not known, which limits nothing.

    shared_bytes_per_block: the most that a kernel may ask for when it is launched.
    static_shared_bytes_per_block: the most that a CUDA kernel may declare. registers_per_thread:
    also says that the device lets a launch limit them (`maxnreg`). threads_per_warp: the lanes of a
    warp or wave. sums_in_registers: False where matrix units keep their sums elsewhere, as
    Blackwell's do in tensor memory.
    """

    shared_bytes_per_block: int | None = None
    static_shared_bytes_per_block: int | None = None
    registers_per_block: int | None = None
    registers_per_thread: int | None = None
    threads_per_block: int | None = None
    threads_per_multiprocessor: int | None = None
    max_warps: int | None = None
    threads_per_warp: int = 32
    sums_in_registers: bool = True


@dataclass(frozen=True, slots=True)
class Demand:
    """A condition over knobs, and why it has to hold; None where it cannot be told."""

    condition: ast.expr | None
    reason: str


def demand(text: str, reason: str, bound: Mapping[str, ast.expr]) -> Demand:
    """The demand of a Python condition, whose names stand for the expressions in `bound`."""
    return Demand(resolved(python_expression(text), bound), reason)


def constraints_of(
    demands: Iterable[Demand], knobs: Sequence[Knob], dropped: Iterable[Knob] = ()
) -> tuple[KnobConstraint, ...]:
    """The demands that speak of these knobs, each once.

    dropped: knobs that stay as they are. The source as it is runs, so a demand that it does not
    meet has been misread and is left out, and so is one that no point breaks.
    """
    present = {k.name: k.default for k in knobs if isinstance(k.default, int)}
    choices = {knob.name: knob.values for knob in knobs}
    by: dict[str, ast.expr] = {knob.name: ast.Constant(knob.default) for knob in dropped}
    by |= {name: ast.Name(name, ast.Load()) for name in present}
    found: dict[str, KnobConstraint] = {}
    for one in demands:
        condition = resolved(one.condition, by)
        if condition is not None and names_of(condition):
            text = ast.unparse(condition)
            if value_of(text, present):
                found.setdefault(text, KnobConstraint(text, one.reason))
    return tuple(one for one in found.values() if _may_fail(one, choices))


def _may_fail(constraint: KnobConstraint, choices: Mapping[str, tuple[Param, ...]]) -> bool:
    """Whether some point breaks it; where there are too many to look, it is taken to."""
    names = sorted(constraint.names)
    points = product(*(choices[name] for name in names))
    looked = [dict(zip(names, point, strict=True)) for point in islice(points, MOST_LOOKS)]
    return len(looked) == MOST_LOOKS or not all(map(constraint.holds, looked))


def product_of(factors: Iterable[ast.expr]) -> str:
    """The factors as one product."""
    return " * ".join(f"({ast.unparse(factor)})" for factor in factors)
