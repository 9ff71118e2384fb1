"""What the C++ loop recipes share: what a file calls, and simd annotations."""

from __future__ import annotations

from collections.abc import Iterable

from tree_sitter import Node

from campaigns.syntax.c_family import (
    Loop,
    functions,
    indent_of,
    innermost_loops,
    line_start,
    parameters,
    pragma_before,
    starts_line,
    text_of,
    walk,
)
from campaigns.syntax.dependence import examine
from campaigns.syntax.edits import Edit

NATIVE_FLAGS = ("-O3", "-march=native")
SIMD_FLAGS = (*NATIVE_FLAGS, "-fopenmp-simd", "-fno-math-errno")
EXPONENTIALS = frozenset({"expf", "std::exp", "std::expf"})
SCALAR_CALLS = EXPONENTIALS | {"exp", "logf", "log", "std::log", "fmaxf", "fminf"}


def callees(root: Node) -> dict[str, tuple[str, ...]]:
    """The parameter types of every function of this file, by name."""
    return {
        name: tuple(kind for kind, _ in parameters(node)) for name, node in functions(root).items()
    }


def calls_in(node: Node) -> set[str]:
    """The names of everything that is called inside the node."""
    return {text_of(n.child_by_field_name("function")) for n in walk(node, "call_expression")}


def simd_edits(root: Node, loops: Iterable[Loop]) -> list[Edit]:
    """One `#pragma omp simd` for each loop that may run in any order and has no pragma yet."""
    edits = []
    for loop in loops:
        found = examine(loop, callees(root))
        if not found.independent or pragma_before(loop.node) or not starts_line(loop.node):
            continue
        pragma = f"{indent_of(loop.node)}#pragma omp simd{found.clauses}\n"
        edits.append(Edit(line_start(loop.node), line_start(loop.node), pragma))
    return edits


def solve_loops(root: Node) -> list[Loop]:
    """The innermost counted loops of `solve`, in source order."""
    solve = functions(root).get("solve")
    return innermost_loops(solve) if solve is not None else []
