"""Finds the knobs of a C, C++ or CUDA source, and what the source demands of them.

Beside its numbers these are what a compiler may be told of loops and blocks, whether or not it is
yet: neither an unrolled loop nor a bound on registers changes what a source computes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from campaigns.evaluator.contract import Source
from campaigns.spaces import ladders
from campaigns.spaces.c_launches import (
    CudaLaunch,
    enclosing_function,
    is_on_device,
    kernels_of,
    launches_of,
)
from campaigns.spaces.c_literals import (
    LiteralFinder,
    at_file_scope,
    constants_of,
    divisions,
    literal,
    shared_arrays,
)
from campaigns.spaces.constraints import Demand, DeviceLimits, product_of
from campaigns.spaces.expressions import c_expression, python_expression, resolved
from campaigns.spaces.render import FLAGS, flag_choices
from campaigns.spaces.space import KnobList, Site
from campaigns.syntax.c_family import (
    declared_name,
    functions,
    indent_of,
    innermost_loops,
    line_start,
    parse,
    pragma_before,
    starts_line,
    text_of,
    walk,
)
from campaigns.syntax.tunables import C_INTEGERS, Tunable, find_tunables

UNROLL = re.compile(r"#\s*pragma\s+(GCC\s+)?unroll[\s(]+(?P<count>\d+)\)?\s*")


def add_unrolls(root: Node, knobs: KnobList, *, cuda: bool) -> None:
    """One knob for each loop that says how far it is unrolled, and each that may well be told.

    That is an innermost counted loop that calls no function of this file.
    """
    own = set(functions(root))
    simple = {loop.node.id for loop in innermost_loops(root) if not _called(loop.body) & own}
    for node in walk(root, "for_statement"):
        first = node.child_by_field_name("initializer")
        variable = declared_name(first) if first is not None else ""
        name, said = f"unroll_{variable or 'loop'}", pragma_before(node)
        before = node.prev_named_sibling
        found = UNROLL.fullmatch(said)
        if found and before is not None and text_of(before) == said:
            value, start = int(found["count"]), before.start_byte + found.start("count")
            values = ladders.with_present(tuple(filter(None, ladders.UNROLLS)), value)
            site = Site(start, start + len(found["count"]), says=value)
            knobs.add(name, values, value, site)
        elif not said and node.id in simple and _may_be_told(node, cuda=cuda):
            place = line_start(node)
            pragma = "#pragma unroll" if cuda else "#pragma GCC unroll"
            site = Site(place, place, f"{indent_of(node)}{pragma} {{}}\n", says=0)
            knobs.add(name, ladders.UNROLLS, 0, site)


def _called(body: Node) -> set[str]:
    """The names of the functions that are called."""
    calls = walk(body, "call_expression")
    return {text_of(call.child_by_field_name("function")).split("<")[0] for call in calls}


def _may_be_told(node: Node, *, cuda: bool) -> bool:
    """Whether a pragma may stand before a loop: on a line of its own among others in braces."""
    in_braces = node.parent is not None and node.parent.type == "compound_statement"
    compiled = not cuda or is_on_device(enclosing_function(node))
    return in_braces and starts_line(node) and compiled


def add_resident_blocks(
    root: Node, launches: Sequence[CudaLaunch], knobs: KnobList
) -> Iterator[tuple[str, str]]:
    """One knob for each kernel: how many of its blocks a multiprocessor is to hold at least.

    Gives the knob's name with the kernel's.
    """
    kernels = kernels_of(root)
    for name, kernel in kernels.items():
        of_this = [launch for launch in launches if launch.kernel == name]
        label = "min_blocks" if len(kernels) == 1 else f"{name}_min_blocks"
        found = _bounds_site(root, kernel, of_this)
        if found is not None:
            present, site = found
            values = ladders.RESIDENT_BLOCKS if present == 0 else ladders.RESIDENT_BLOCKS[1:]
            knob = knobs.add(label, ladders.with_present(values, present), present, site)
            yield ast.unparse(knob), name


def _bounds_site(
    root: Node, kernel: Node, launches: Sequence[CudaLaunch]
) -> tuple[int, Site] | None:
    """The number of blocks that `__launch_bounds__` has, 0 for none, and where it is written."""
    bounds = next(walk(kernel, "launch_bounds"), None)
    given = bounds.named_children if bounds is not None else []
    if len(given) == 2 and text_of(given[1]).isdigit():
        value = int(text_of(given[1]))
        return value, Site(given[1].start_byte, given[1].end_byte, says=value)
    if len(given) == 1:
        return 0, Site(given[0].end_byte, given[0].end_byte, ", {}", says=0)
    declarator = kernel.child_by_field_name("declarator")
    if bounds is not None or declarator is None or len(launches) != 1:
        return None
    constants = at_file_scope(root)
    names = set(re.findall(r"[A-Za-z_]\w*", launches[0].threads))
    if not names or any(constants.get(n, kernel.start_byte) >= kernel.start_byte for n in names):
        return None
    form = f"__launch_bounds__({launches[0].threads}, {{}}) "
    return 0, Site(declarator.start_byte, declarator.start_byte, form, says=0)


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
