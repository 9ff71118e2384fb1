"""Finds the knobs of a C, C++ or CUDA source, and what the source demands of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from campaigns.evaluator.contract import Source
from campaigns.spaces import ladders
from campaigns.spaces.c_constants import constants_of
from campaigns.spaces.c_launches import CudaLaunch, launches_of
from campaigns.spaces.c_literals import LiteralFinder
from campaigns.spaces.c_schedules import add_resident_blocks, add_unrolls
from campaigns.spaces.flags import FLAGS, flag_choices
from campaigns.spaces.knob_list import KnobList
from campaigns.spaces.space import Site
from campaigns.syntax.c_family import parse
from campaigns.syntax.tunables import Tunable, find_tunables

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
    root = parse(source.text, cuda=cuda)
    if root is None:
        _add_flags(source, backend, knobs, relaxed)
        return CKnobs()
    launches = tuple(launches_of(root)) if cuda else ()
    named = dict(_add_constants(find_tunables(source, backend), launches, knobs))
    literals = LiteralFinder(root, launches, knobs)
    named |= {**dict(literals.template_arguments()), **dict(literals.variables())}
    literals.block_sides()
    _add_flags(source, backend, knobs, relaxed)
    resident = dict(add_resident_blocks(root, launches, knobs))
    add_unrolls(root, knobs, cuda=cuda)
    return CKnobs(root, constants_of(root, named), launches, literals.places, resident)


def _add_flags(source: Source, backend: str, knobs: KnobList, relaxed: bool) -> None:
    present, choices = flag_choices(source, backend, relaxed=relaxed)
    knobs.add(FLAGS, choices, present)


def _add_constants(
    tunables: Sequence[Tunable], launches: Sequence[CudaLaunch], knobs: KnobList
) -> Iterator[tuple[str, ast.expr]]:
    """Add every named number, and say what stands for each name."""
    alone = {launch.threads for launch in launches if len(launch.sides) == 1}
    for tunable in tunables:
        value, name = tunable.value or 0, tunable.name
        if CHIP_FACT.fullmatch(name) or not 1 <= value <= ladders.MOST:
            continue
        site = Site(tunable.start, tunable.end, says=value)
        yield name, knobs.add(name, _values(tunable, value, name in alone), value, site)


def _values(tunable: Tunable, value: int, sizes_blocks: bool) -> tuple[int, ...]:
    if tunable.square:
        return ladders.strict_ladder(value, ladders.SIDES)
    if sizes_blocks:
        return ladders.strict_ladder(value, ladders.THREADS)
    usual = ladders.TILES if value > HIGHEST_SMALL else ladders.COUNTS
    return ladders.ladder(value, usual)
