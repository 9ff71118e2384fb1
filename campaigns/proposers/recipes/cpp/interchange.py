"""C++: reorder a matrix product so that the innermost loop runs along rows."""

from __future__ import annotations

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import About, recipe, single
from campaigns.proposers.recipes.cpp.loops import SIMD_FLAGS
from campaigns.proposers.recipes.cpp.matmul_nest import recognise
from campaigns.rules.verdict.buckets import Bucket
from campaigns.syntax.edits import Edit, edited

NEST = """\
for (int i = 0; i < {m}; ++i) {{
        float* out = {c} + static_cast<long>(i) * {n};
        for (int j = 0; j < {n}; ++j) {{
            out[j] = 0.0f;
        }}
        for (int k = 0; k < {k}; ++k) {{
            const float factor = {a}[static_cast<long>(i) * {k} + k];
            const float* row = {b} + static_cast<long>(k) * {n};
            #pragma omp simd
            for (int j = 0; j < {n}; ++j) {{
                out[j] += factor * row[j];
            }}
        }}
    }}"""


@recipe(
    About(
        id="cpp.interchange",
        title="Walk along rows in the innermost loop",
        bucket=Bucket.K1,
        backend="cpp",
        category=Category.MOVEMENT,
        change="Row-column-term order becomes row-term-column: each value of A is multiplied into "
        "a whole row of B and added to a row of C.",
        rationale="In the naive order neighbouring turns read B a whole row apart, so each load "
        "uses 4 bytes of a cache line and nothing vectorises; along a row all of it is used.",
        risks="C is read and written once per term, so it has to stay in the cache.",
        expected=lambda facts: 8.0,
        ops=("matmul",),
    )
)
def interchange(situation: Situation) -> tuple[Variant, ...]:
    """Replace a naive nest; refuse anything else."""
    nest = recognise(situation.source.text)
    if nest is None:
        return ()
    sizes = {"m": nest.rows, "k": nest.inner, "n": nest.columns}
    text = NEST.format(a=nest.left, b=nest.right, c=nest.product, **sizes)
    edit = Edit(nest.outer.start_byte, nest.outer.end_byte, text)
    return single(edited(situation.source, [edit], flags=SIMD_FLAGS))
