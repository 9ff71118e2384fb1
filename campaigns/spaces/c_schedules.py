"""Finds what a C, C++ or CUDA compiler may be told of loops and blocks, whether or not it is yet.

Neither an unrolled loop nor a bound on registers changes what a source computes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from campaigns.spaces import ladders
from campaigns.spaces.c_launches import (
    CudaLaunch,
    enclosing_function,
    is_on_device,
    kernels_of,
)
from campaigns.spaces.c_literals import at_file_scope
from campaigns.spaces.space import KnobList, Site
from campaigns.syntax.c_family import (
    declared_name,
    functions,
    indent_of,
    innermost_loops,
    line_start,
    pragma_before,
    starts_line,
    text_of,
    walk,
)

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
