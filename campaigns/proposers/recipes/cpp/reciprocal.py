"""C++: divide once before a loop and multiply inside it."""

from __future__ import annotations

from tree_sitter import Node

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import About, recipe, single
from campaigns.proposers.recipes.cpp.loops import solve_loops
from campaigns.rules.verdict.buckets import Bucket
from campaigns.syntax.c_family import (
    ASSIGNMENTS,
    Loop,
    declared_name,
    declared_names,
    functions,
    indent_of,
    line_start,
    parse,
    text_of,
    walk,
)
from campaigns.syntax.edits import Edit, edited


@recipe(
    About(
        id="cpp.reciprocal",
        title="Divide once per row instead of once per value",
        bucket=Bucket.K1,
        backend="cpp",
        category=Category.INSTRUCTIONS,
        change="Divisions in an innermost loop by a float that does not change in it become "
        "multiplications by its reciprocal, computed once before the loop.",
        rationale="A division occupies its unit for several times as long as a multiplication.",
        risks="One more rounding per value.",
        expected=lambda facts: 1.03 if facts.bound == "memory" else 1.1,
    )
)
def reciprocal(situation: Situation) -> tuple[Variant, ...]:
    """Rewrite every such division in `solve`; refuse when there is none."""
    root = parse(situation.source.text)
    if root is None:
        return ()
    edits: list[Edit] = []
    floats = _float_names(functions(root).get("solve"))
    for loop in solve_loops(root):
        edits += _loop_edits(loop, floats)
    return single(edited(situation.source, edits)) if edits else ()


def _float_names(solve: Node | None) -> set[str]:
    """Scalars declared `float` inside the function."""
    found: set[str] = set()
    for node in walk(solve, "declaration") if solve is not None else ():
        pointer = next(walk(node, "pointer_declarator", "array_declarator"), None)
        if text_of(node.child_by_field_name("type")) == "float" and pointer is None:
            found |= declared_names(node)
    return found


def _loop_edits(loop: Loop, floats: set[str]) -> list[Edit]:
    changed = declared_names(loop.node)
    changed |= {
        declared_name(write.named_children[0])
        for write in walk(loop.body, *ASSIGNMENTS)
        if write.named_children[0].type == "identifier"
    }
    edits: list[Edit] = []
    divisors: dict[str, None] = {}
    for node in walk(loop.body, "binary_expression", "assignment_expression"):
        operator, right = node.child_by_field_name("operator"), node.child_by_field_name("right")
        divisor = text_of(right)
        if operator is None or right is None or divisor not in floats - changed:
            continue
        if text_of(operator) in ("/", "/="):
            product = text_of(operator).replace("/", "*")
            edits.append(Edit(operator.start_byte, operator.end_byte, product))
            edits.append(Edit(right.start_byte, right.end_byte, f"inverse_{divisor}"))
            divisors[divisor] = None
    indent, place = indent_of(loop.node), _before_pragmas(loop.node)
    lines = "".join(f"{indent}const float inverse_{d} = 1.0f / {d};\n" for d in divisors)
    return [*edits, Edit(place, place, lines)] if divisors else []


def _before_pragmas(node: Node) -> int:
    before = node.prev_named_sibling
    while before is not None and before.type == "preproc_call":
        node, before = before, before.prev_named_sibling
    return line_start(node)
