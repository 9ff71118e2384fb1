"""C++: replace libm's scalar exponential by a polynomial that the compiler can vectorise."""

from __future__ import annotations

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import About, recipe, single, template
from campaigns.proposers.recipes.cpp.loops import (
    EXPONENTIALS,
    SIMD_FLAGS,
    calls_in,
    simd_edits,
    solve_loops,
)
from campaigns.rules.verdict.buckets import Bucket
from campaigns.syntax.c_family import functions, parse, text_of, walk
from campaigns.syntax.edits import Edit, edited

HELPER = "exp_lanes"


@recipe(
    About(
        id="cpp.vector_exp",
        title="Compute the exponentials in vector lanes",
        bucket=Bucket.K1,
        backend="cpp",
        category=Category.ALGORITHM,
        change="Calls of expf inside loops become calls of an inline polynomial "
        "(range reduction by powers of two, degree 6), and those loops get `#pragma omp simd`.",
        rationale="libm's expf is one call per value and keeps its loop scalar; inline arithmetic "
        "of the same accuracy class fills all vector lanes.",
        risks="About 2 units in the last place of error, and results below 1e-38 become about "
        "1e-38.",
        expected=lambda facts: 5.0,
    )
)
def vector_exp(situation: Situation) -> tuple[Variant, ...]:
    """Replace the calls in `solve`'s innermost loops; refuse when no such loop calls expf."""
    source = situation.source
    root = parse(source.text)
    if root is None or HELPER in functions(root):
        return ()
    loops = [loop for loop in solve_loops(root) if calls_in(loop.body) & EXPONENTIALS]
    edits = simd_edits(root, loops)
    if not edits:
        return ()
    for loop in loops:
        for call in walk(loop.body, "call_expression"):
            name = call.child_by_field_name("function")
            if name is not None and text_of(name) in EXPONENTIALS:
                edits.append(Edit(name.start_byte, name.end_byte, HELPER))
    place = _after_includes(source.text)
    edits.append(Edit(place, place, "\n" + template("exp_lanes.cpp")))
    return single(edited(source, edits, flags=SIMD_FLAGS))


def _after_includes(text: str) -> int:
    root = parse(text)
    includes = list(walk(root, "preproc_include")) if root is not None else []
    return includes[-1].end_byte if includes else 0
