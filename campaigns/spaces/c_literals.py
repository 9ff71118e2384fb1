"""Finds bare numbers of a CUDA source that size a block or a template, and what repeats them.

A number that also stands elsewhere may mean the same thing there. It is a knob only where each
repetition is in the launch that it sizes, and is then written along with it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from campaigns.spaces import ladders
from campaigns.spaces.c_launches import CudaLaunch, enclosing_function
from campaigns.spaces.expressions import c_expression, resolved
from campaigns.spaces.space import KnobList, Site
from campaigns.syntax.c_family import declared_name, names_in, text_of, walk
from campaigns.syntax.tunables import C_INTEGERS, C_NUMBER

# Constants that are made of constants that are made of others, and so on.
MOST_LEVELS = 8

TYPES_BY_BYTES = {
    1: ("char", "int8_t", "uint8_t"),
    2: ("half", "__half", "__nv_bfloat16"),
    4: ("float", "int", "unsigned", "unsigned int", "half2", "__half2"),
    8: ("double", "long", "float2"),
    16: ("float4", "int4"),
}
BYTES = {name: size for size, names in TYPES_BY_BYTES.items() for name in names}


def constants_of(root: Node, knobs: Mapping[str, ast.expr]) -> dict[str, ast.expr]:
    """What stands for each constant, over knobs; one of a name that is given twice is left out."""
    definitions = list(_definitions(root))
    given = Counter(name for name, _ in definitions)
    waiting = {name: c_expression(text) for name, text in definitions if given[name] == 1}
    found: dict[str, ast.expr] = {}
    for _ in range(MOST_LEVELS):
        known = {name: knobs.get(name) or resolved(e, found) for name, e in waiting.items()}
        found |= {name: value for name, value in known.items() if value is not None}
        waiting = {name: e for name, e in waiting.items() if name not in found}
    return found


def at_file_scope(root: Node) -> dict[str, int]:
    """Where each constant ends that the whole file behind it can use."""
    found = {}
    for node in root.named_children:
        if node.type == "preproc_def":
            found[text_of(node.child_by_field_name("name"))] = node.end_byte
        elif node.type == "declaration" and _is_constant(node):
            for setting in walk(node, "init_declarator"):
                found[declared_name(setting)] = node.end_byte
    return found


def shared_arrays(function: Node) -> Iterator[ast.expr]:
    """The bytes of each array that a kernel declares in shared memory, where they can be told."""
    for node in walk(function, "declaration"):
        words = text_of(node).split()
        if "__shared__" not in words or "extern" in words:
            continue
        size = BYTES.get(text_of(node.child_by_field_name("type")))
        for declarator in node.children_by_field_name("declarator"):
            lengths = [
                text_of(array.child_by_field_name("size"))
                for array in walk(declarator, "array_declarator")
            ]
            expression = c_expression(" * ".join([f"({n})" for n in lengths] + [str(size)]))
            if expression is not None:
                yield expression


def divisions(root: Node) -> Iterator[ast.BinOp]:
    """Divisions of integers as written; rounding up, whose numerator is a sum, is left out."""
    written = (n for n in walk(root, "binary_expression") if text_of(n.child(1)) == "/")
    macros = (n.child_by_field_name("value") for n in walk(root, "preproc_def"))
    parsed = [c_expression(text_of(node)) for node in (*written, *macros)]
    for node in (node for one in parsed if one is not None for node in ast.walk(one)):
        divides = isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv)
        if isinstance(node, ast.BinOp) and divides and not isinstance(node.left, ast.BinOp):
            yield node


def _definitions(root: Node) -> Iterator[tuple[str, str]]:
    """Names and values of `#define`, `constexpr` and `const` integers and of enumerators."""
    for node in walk(root, "preproc_def", "declaration", "enumerator"):
        value = node.child_by_field_name("value")
        if node.type != "declaration":
            yield text_of(node.child_by_field_name("name")), text_of(value).split("//")[0]
        elif _is_constant(node):
            for setting in walk(node, "init_declarator"):
                yield declared_name(setting), text_of(setting.child_by_field_name("value"))


def _is_constant(node: Node) -> bool:
    words = text_of(node).split("=")[0].split()
    return "constexpr" in words or "const" in words


AXES = ("x", "y", "z")


@dataclass(frozen=True, slots=True)
class Literal:
    """An integer of the source."""

    node: Node
    value: int


def literal(node: Node | None) -> Literal | None:
    """The decimal integer that a node is; else None."""
    found = C_NUMBER.fullmatch(text_of(node))
    return Literal(node, int(found["digits"])) if node is not None and found else None


class LiteralFinder:
    """Adds knobs for literals. places: what stands for each, by where it starts in the source."""

    def __init__(self, root: Node, launches: Sequence[CudaLaunch], knobs: KnobList) -> None:
        self.root, self.launches, self.knobs = root, launches, knobs
        self.numbers = [n for n in map(literal, walk(root, "number_literal")) if n is not None]
        self.places: dict[int, ast.expr] = {}

    def variables(self) -> Iterator[tuple[str, ast.expr]]:
        """Integers of a function that size a block and are set once, by name."""
        for launch in self.launches:
            function = enclosing_function(launch.node)
            for side in launch.sides:
                value = literal(_initial_value(function, text_of(side)))
                if value is not None:
                    values = ladders.strict_ladder(value.value, ladders.THREADS)
                    knob = self._add(text_of(side), value, launch, values)
                    if knob is not None:
                        yield text_of(side), knob

    def template_arguments(self) -> Iterator[tuple[str, ast.expr]]:
        """Literals in the one place where a template is instantiated, by parameter."""
        used = list(walk(self.root, "template_function"))
        names = [text_of(node.child_by_field_name("name")) for node in used]
        for name, parameters in _templates(self.root):
            if names.count(name) != 1:
                continue
            node = used[names.index(name)]
            launch = next((at for at in self.launches if _holds(at.node, node)), None)
            arguments = next(walk(node, "template_argument_list"), node).named_children
            for parameter, argument in zip(parameters, arguments, strict=False):
                value = literal(argument)
                if value is not None:
                    values = ladders.ladder(value.value, ladders.COUNTS)
                    knob = self._add(parameter, value, launch, values)
                    if knob is not None:
                        yield parameter, knob

    def block_sides(self) -> None:
        """Literals in the shape of a block."""
        for launch in self.launches:
            for axis, side in zip(AXES, launch.sides, strict=False):
                value = literal(side)
                alone = len(launch.sides) == 1
                usual = ladders.THREADS if alone else ladders.SIDES
                if value is not None:
                    values = ladders.strict_ladder(value.value, usual)
                    self._add("block" if alone else f"block_{axis}", value, launch, values)

    def _add(
        self, name: str, value: Literal, launch: CudaLaunch | None, values: tuple[int, ...]
    ) -> ast.expr | None:
        """The knob, where each repetition of its value is known to belong to it and it is new."""
        sites = self._sites(value, launch)
        if not sites or value.node.start_byte in self.places or value.value <= 1:
            return None
        knob = self.knobs.add(name, values, value.value, *sites)
        self.places |= dict.fromkeys((site.start for site in sites), knob)
        return knob

    def _sites(self, value: Literal, launch: CudaLaunch | None) -> list[Site]:
        """Where the number is written to: itself and its repetitions; none if one is elsewhere.

        One less than the number rounds up in a grid, is another number in a block or a template,
        and may be a mask anywhere else.
        """
        grid = list(_parts(launch.grid)) if launch is not None else []
        shape = list(launch.sides) if launch is not None else []
        kernel = launch.node.child_by_field_name("function") if launch is not None else None
        shape += walk(kernel, "template_argument_list") if kernel is not None else ()
        sites = []
        for number in self.numbers:
            node, start = number.node, number.node.start_byte
            in_grid, in_shape = (any(_holds(o, node) for o in outer) for outer in (grid, shape))
            form = "{}" if number.value == value.value else "({} - 1)"
            if number.value not in (value.value, value.value - 1):
                continue
            if not (in_grid or in_shape or node == value.node):
                return []
            if in_grid or number.value == value.value:
                end = start + len(str(number.value))
                sites.append(Site(start, end, form, says=value.value))
        return sites


def _initial_value(function: Node, name: str) -> Node | None:
    """What an integer variable of a function starts as, if nothing sets it again."""
    for node in walk(function, "assignment_expression", "update_expression"):
        target = node.child_by_field_name("left") or node.child_by_field_name("argument")
        if text_of(target) == name:
            return None
    for declaration in walk(function, "declaration"):
        if text_of(declaration.child_by_field_name("type")) in C_INTEGERS:
            for setting in walk(declaration, "init_declarator"):
                if declared_name(setting) == name and "constexpr" not in text_of(declaration):
                    return setting.child_by_field_name("value")
    return None


def _parts(grid: Node) -> Iterator[Node]:
    """The grid, and what the variables in it start as."""
    yield grid
    function = enclosing_function(grid)
    for name in sorted(names_in(grid)):
        value = _initial_value(function, name)
        if value is not None:
            yield value


def _templates(root: Node) -> Iterator[tuple[str, list[str]]]:
    """Function templates with the names of their parameters."""
    for template in walk(root, "template_declaration"):
        function = next(walk(template, "function_definition"), None)
        parameters = template.child_by_field_name("parameters")
        if function is not None and parameters is not None:
            names = [text_of(p).split("=")[0].split()[-1] for p in parameters.named_children]
            yield declared_name(function.child_by_field_name("declarator")), names


def _holds(outer: Node, inner: Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte
