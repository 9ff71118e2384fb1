"""Finds the knobs of a C, C++ or CUDA source, and what the source demands of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from campaigns.evaluator.contract import Source
from campaigns.spaces import ladders
from campaigns.spaces.c_family.constants import constants_of
from campaigns.spaces.c_family.launches import CudaLaunch, launches_of
from campaigns.spaces.c_family.literals import LiteralFinder, literal
from campaigns.spaces.c_family.schedules import add_resident_blocks, add_unrolls
from campaigns.spaces.flags import FLAGS, flag_choices
from campaigns.spaces.knob_list import KnobList
from campaigns.spaces.space import Site
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
