"""Finds the knobs of a C, C++ or CUDA source, and what the source demands of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from campaigns.evaluator.contract import Source
from campaigns.spaces import ladders
from campaigns.spaces.c_launches import CudaLaunch, kernels_of, launches_of
from campaigns.spaces.c_literals import (
    LiteralFinder,
    constants_of,
    divisions,
    literal,
    shared_arrays,
)
from campaigns.spaces.c_schedules import add_resident_blocks, add_unrolls
from campaigns.spaces.constraints import Demand, DeviceLimits, product_of
from campaigns.spaces.expressions import c_expression, python_expression, resolved
from campaigns.spaces.render import FLAGS, flag_choices
from campaigns.spaces.space import KnobList, Site
from campaigns.syntax.c_family import declared_name, parse, text_of, walk
from campaigns.syntax.tunables import C_INTEGERS, Tunable, find_tunables

# What the chip has is not a choice.
CHIP_FACT = re.compile(r"k?_?(warp|wave(front)?)(_?(size|threads|lanes))?", re.IGNORECASE)
HIGHEST_SMALL = 8


@dataclass(frozen=True, slots=True)
class CKnobs:
    """What was found. constants: what stands for each name. resident: kernels by their knob."""

    root: Node | None = None
    constants: Mapping[str, ast.expr] = field(default_factory=dict)
    launches: Sequence[CudaLaunch] = ()
    places: Mapping[int, ast.expr] = field(default_factory=dict)
    resident: Mapping[str, str] = field(default_factory=dict)


def find_c_knobs(source: Source, backend: str, knobs: KnobList, *, relaxed: bool) -> CKnobs:
    """Add the knobs of a source to the list; no more than flags where it does not parse."""
    cuda = backend != "cpp"
    present, choices = flag_choices(source, backend, relaxed=relaxed)
    knobs.add(FLAGS, choices, present)
    root = parse(source.text, cuda=cuda)
    if root is None:
        return CKnobs()
    launches = tuple(launches_of(root)) if cuda else ()
    numbers = [*find_tunables(source, backend), *_const_integers(root)]
    named = dict(_add_constants(numbers, launches, knobs))
    literals = LiteralFinder(root, launches, knobs)
    named |= {**dict(literals.template_arguments()), **dict(literals.variables())}
    literals.block_sides()
    resident = dict(add_resident_blocks(root, launches, knobs))
    add_unrolls(root, knobs, cuda=cuda)
    return CKnobs(root, constants_of(root, named), launches, literals.places, resident)


def _const_integers(root: Node) -> Iterator[Tunable]:
    """`const` integers of the whole file, which are no less compile-time than `constexpr` ones."""
    for node in root.named_children:
        words = text_of(node).split("=")[0].split()
        integer = text_of(node.child_by_field_name("type")) in C_INTEGERS
        if node.type == "declaration" and "const" in words and integer:
            for setting in walk(node, "init_declarator"):
                value = literal(setting.child_by_field_name("value"))
                if value is not None and "constexpr" not in words:
                    start = value.node.start_byte
                    end = start + len(str(value.value))
                    yield Tunable(declared_name(setting), value.value, start, end)


def _add_constants(
    tunables: Sequence[Tunable], launches: Sequence[CudaLaunch], knobs: KnobList
) -> Iterator[tuple[str, ast.expr]]:
    """Add every named number, and say what stands for each name."""
    alone = {launch.threads for launch in launches if len(launch.sides) == 1}
    squares = {side for launch in launches for side in launch.square}
    for tunable in tunables:
        value, name = tunable.value or 0, tunable.name
        if CHIP_FACT.fullmatch(name) or not 1 <= value <= ladders.MOST:
            continue
        site = Site(tunable.start, tunable.end, says=value)
        yield (
            name,
            knobs.add(
                name, _values(value, name in squares or tunable.square, name in alone), value, site
            ),
        )


def _values(value: int, is_side: bool, sizes_blocks: bool) -> tuple[int, ...]:
    if is_side:
        return ladders.strict_ladder(value, ladders.SIDES)
    if sizes_blocks:
        return ladders.strict_ladder(value, ladders.THREADS)
    usual = ladders.TILES if value > HIGHEST_SMALL else ladders.COUNTS
    return ladders.ladder(value, usual)


def c_demands(found: CKnobs, limits: DeviceLimits) -> Iterator[Demand]:
    """Conditions of `static_assert`, divisions without a rest, and the limits of a block."""
    if found.root is None:
        return
    for node in walk(found.root, "static_assert_declaration"):
        text = text_of(node.child_by_field_name("condition"))
        condition = resolved(c_expression(text), found.constants)
        yield Demand(condition, f"the source asserts {text}")
    for division in divisions(found.root):
        rest = ast.BinOp(division.left, ast.Mod(), division.right)
        whole = ast.Compare(rest, [ast.Eq()], [ast.Constant(0)])
        reason = f"the source takes {ast.unparse(division)} without a rest".replace("//", "/")
        yield Demand(resolved(whole, found.constants), reason)
    for launch in found.launches:
        yield from _block_demands(launch, found, limits)
    if limits.static_shared_bytes_per_block is not None:
        yield from _shared_demands(found, limits.static_shared_bytes_per_block)


def _block_demands(launch: CudaLaunch, found: CKnobs, limits: DeviceLimits) -> Iterator[Demand]:
    sides = [
        found.places.get(n.start_byte) or resolved(c_expression(text_of(n)), found.constants)
        for n in launch.sides
    ]
    threads = product_of(side for side in sides if side is not None)
    if None in sides or not threads:
        return
    if limits.threads_per_block is not None:
        reason = f"a block has at most {limits.threads_per_block} threads"
        yield _at_most(threads, str(limits.threads_per_block), reason)
    kernel = kernels_of(found.root).get(launch.kernel) if found.root is not None else None
    bounds = next(walk(kernel, "launch_bounds"), None) if kernel is not None else None
    first = bounds.named_children[0] if bounds is not None else None
    given = resolved(c_expression(text_of(first)), found.constants)
    if given is not None:
        reason = f"{launch.kernel} is bounded to fewer threads"
        yield _at_most(threads, f"({ast.unparse(given)})", reason)
    most = limits.threads_per_multiprocessor
    for knob, name in found.resident.items():
        if name == launch.kernel and most is not None:
            reason = f"a multiprocessor holds at most {most} threads"
            yield _at_most(f"{knob} * {threads}", str(most), reason)


def _shared_demands(found: CKnobs, most: int) -> Iterator[Demand]:
    kernels = kernels_of(found.root) if found.root is not None else {}
    for name, kernel in kernels.items():
        arrays = [resolved(array, found.constants) for array in shared_arrays(kernel)]
        known = [f"({ast.unparse(array)})" for array in arrays if array is not None]
        if known:
            reason = f"{name} may declare at most {most} bytes of shared memory"
            yield _at_most(" + ".join(known), str(most), reason)


def _at_most(amount: str, most: str, reason: str) -> Demand:
    return Demand(python_expression(f"{amount} <= {most}"), reason)
