"""The compile-time integers of a C, C++ or CUDA source, as expressions over its knobs."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from campaigns.spaces.expressions import c_expression, resolved
from campaigns.syntax.c_family import declared_name, text_of, walk

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
