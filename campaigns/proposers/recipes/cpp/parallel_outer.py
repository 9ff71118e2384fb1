"""C++: share the independent outer loop among the cores with OpenMP."""

from __future__ import annotations

from tree_sitter import Node

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.evidence import Facts
from campaigns.proposers.recipes.base import About, recipe, single
from campaigns.proposers.recipes.cpp.loops import callees
from campaigns.rules.verdict.buckets import Bucket
from campaigns.syntax.c_family import (
    counted_loop,
    functions,
    indent_of,
    line_start,
    parse,
    pragma_before,
    starts_line,
    statements,
    text_of,
)
from campaigns.syntax.dependence import examine
from campaigns.syntax.edits import Edit, edited


def expected(facts: Facts) -> float:
    """Nearly linear in the cores where arithmetic binds, less where memory is shared."""
    cores = facts.cores or 2
    return 1.0 + (cores - 1) * (0.45 if facts.bound == "memory" else 0.9)


@recipe(
    About(
        id="cpp.parallel_outer",
        title="Share the outer loop among all cores",
        bucket=Bucket.K1,
        backend="cpp",
        category=Category.LAUNCH,
        change="`#pragma omp parallel for` before each outer loop of solve whose turns are "
        "independent; built with -fopenmp.",
        rationale="One thread uses one core's arithmetic and one core's share of the memory "
        "bandwidth; the turns of the outer loop write to different places, so all cores can take "
        "some.",
        risks="Starting threads costs microseconds per call, so very small cases may lose.",
        expected=expected,
    )
)
def parallel_outer(situation: Situation) -> tuple[Variant, ...]:
    """Annotate the loops that stand directly in `solve`; refuse when none is independent."""
    source = situation.source
    root = parse(source.text)
    solve = functions(root).get("solve") if root is not None else None
    body = solve.child_by_field_name("body") if solve is not None else None
    if root is None or body is None:
        return ()
    edits = []
    for node in statements(body):
        loop = counted_loop(node) if node.type == "for_statement" else None
        if loop is None or "parallel" in pragma_before(node) or not starts_line(node):
            continue
        found = examine(loop, callees(root))
        if found.independent:
            edits.append(_shared(node, found.clauses))
    return single(edited(source, edits, flags=("-fopenmp",))) if edits else ()


def _shared(node: Node, clauses: str) -> Edit:
    """The pragma that shares the loop; one for vector lanes that is there already is kept."""
    before = node.prev_named_sibling
    if before is not None and "omp simd" in pragma_before(node):
        both = text_of(before).replace("omp simd", "omp parallel for simd")
        return Edit(before.start_byte, before.end_byte, both)
    pragma = f"{indent_of(node)}#pragma omp parallel for schedule(static){clauses}\n"
    return Edit(line_start(node), line_start(node), pragma)
