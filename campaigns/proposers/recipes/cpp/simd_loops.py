"""C++: let the compiler use vector instructions for the innermost loops."""

from __future__ import annotations

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import About, recipe, single
from campaigns.proposers.recipes.cpp.loops import (
    SCALAR_CALLS,
    SIMD_FLAGS,
    callees,
    calls_in,
    simd_edits,
    solve_loops,
)
from campaigns.rules.verdict.buckets import Bucket
from campaigns.syntax.c_family import parse
from campaigns.syntax.edits import edited


@recipe(
    About(
        id="cpp.simd_loops",
        title="Vectorise the innermost loops",
        bucket=Bucket.K1,
        backend="cpp",
        category=Category.INSTRUCTIONS,
        change="`#pragma omp simd` with reductions before each innermost loop that may run in any "
        "order; built with -O3 -march=native.",
        rationale="A sum or a maximum in one float variable makes every turn wait for the one "
        "before; named as a reduction it runs in as many lanes as the machine has.",
        risks="Sums are added in another order, which moves the last bits of the result.",
        expected=lambda facts: 1.3 if facts.bound == "memory" and (facts.share or 0) > 0.3 else 2.5,
    )
)
def simd_loops(situation: Situation) -> tuple[Variant, ...]:
    """Annotate every loop without a call that stays scalar; refuse when there is none."""
    root = parse(situation.source.text)
    if root is None:
        return ()
    types = callees(root)
    scalar = SCALAR_CALLS | {name for name, kinds in types.items() if "*" in "".join(kinds)}
    loops = [loop for loop in solve_loops(root) if not calls_in(loop.body) & scalar]
    edits = simd_edits(root, loops)
    return single(edited(situation.source, edits, flags=SIMD_FLAGS)) if edits else ()
