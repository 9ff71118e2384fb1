"""CUDA: move sixteen bytes per access."""

from __future__ import annotations

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import About, recipe
from campaigns.proposers.recipes.cuda.by_template import by_template
from campaigns.proposers.recipes.cuda.spread import Spread
from campaigns.rules.verdict.buckets import Bucket


@recipe(
    About(
        id="cuda.vector_access",
        title="Move 16 bytes per access",
        bucket=Bucket.K1,
        backend="cuda",
        category=Category.MOVEMENT,
        change="float4 loads and stores; each thread handles PER_THREAD vectors a grid apart.",
        rationale="One 4-byte value per thread in small blocks spends its time on starting "
        "blocks and issuing instructions; wide accesses keep more bytes in flight.",
        risks="Needs pointers aligned to 16 bytes.",
        expected=lambda facts: 1.3,
        ops=("vector_add",),
    )
)
def vector_access(situation: Situation) -> tuple[Variant, ...]:
    """Replace a kernel that works as one value per thread; refuse anything else."""
    return by_template(situation, "vector_add_float4.cu", Spread.THREAD_PER_VALUE)
