"""What has to hold between knobs: the limits of a device, and what the source itself demands."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

from campaigns.evaluator.contract import Param
from campaigns.spaces.expressions import names_of, python_expression, replaced_names, value_of
from campaigns.spaces.space import Constraint, Knob

# Points of which a constraint is looked at before it is kept for good.
MOST_LOOKS = 2000


@dataclass(frozen=True, slots=True)
class DeviceLimits:
    """What a device can do, from cited values; None where it is not known, which limits nothing.

    shared_bytes_per_block: the most that a kernel may ask for.
    static_shared_bytes_per_block: the most that it may declare.
    """

    shared_bytes_per_block: int | None = None
    static_shared_bytes_per_block: int | None = None
    registers_per_block: int | None = None
    registers_per_thread: int | None = None
    threads_per_block: int | None = None
    threads_per_multiprocessor: int | None = None
    max_warps: int | None = None
    threads_per_warp: int = 32


@dataclass(frozen=True, slots=True)
class Demand:
    """A condition over names of a source, what stands for those names, and why it has to hold."""

    condition: ast.expr | None
    reason: str
    bound: Mapping[str, ast.expr]


def constraints_of(
    demands: Iterable[Demand], knobs: Sequence[Knob], dropped: Iterable[Knob] = ()
) -> tuple[Constraint, ...]:
    """The demands that speak of these knobs and of nothing unknown, each once.

    dropped: knobs that stay as they are. The source as it is runs, so a demand that it does not
    meet has been misread and is left out, and so is one that no point breaks.
    """
    fixed: dict[str, ast.expr] = {knob.name: ast.Constant(knob.default) for knob in dropped}
    present: dict[str, Param] = {knob.name: knob.default for knob in knobs}
    choices = {knob.name: knob.values for knob in knobs}
    found: dict[str, Constraint] = {}
    for demand in demands:
        if demand.condition is None:
            continue
        condition = replaced_names(replaced_names(demand.condition, demand.bound), fixed)
        names, text = names_of(condition), ast.unparse(condition)
        if names and names <= set(present) and value_of(text, present):
            found.setdefault(text, Constraint(text, demand.reason))
    return tuple(one for one in found.values() if _may_fail(one, choices))


def _may_fail(constraint: Constraint, choices: Mapping[str, tuple[Param, ...]]) -> bool:
    """Whether some point breaks it; where there are too many to look, it is taken to."""
    names = sorted(constraint.names)
    points = product(*(choices[name] for name in names))
    looked = [dict(zip(names, point, strict=True)) for point in islice(points, MOST_LOOKS)]
    return len(looked) == MOST_LOOKS or not all(map(constraint.holds, looked))


def demand(text: str, reason: str, bound: Mapping[str, ast.expr]) -> Demand:
    """A demand whose condition is written in Python."""
    return Demand(python_expression(text), reason, bound)


def product_of(factors: Iterable[ast.expr]) -> str:
    """The factors as one product."""
    return " * ".join(f"({ast.unparse(factor)})" for factor in factors)
