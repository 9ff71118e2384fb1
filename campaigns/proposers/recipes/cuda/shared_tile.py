"""CUDA: stage matrix tiles in shared memory."""

from __future__ import annotations

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import About, recipe
from campaigns.proposers.recipes.cuda.by_template import by_template
from campaigns.proposers.recipes.cuda.spread import Spread
from campaigns.rules.verdict.buckets import Bucket


@recipe(
    About(
        id="cuda.shared_tile",
        title="Stage tiles in shared memory",
        bucket=Bucket.K1,
        backend="cuda",
        category=Category.MOVEMENT,
        change="Blocks copy a tile of A and of B into shared memory and every thread sums "
        "over the tiles.",
        rationale="Each value is loaded from global memory once per tile instead of once per "
        "output.",
        risks="Two barriers per tile; every term still needs two shared loads.",
        expected=lambda facts: 1.5,
        ops=("matmul",),
    )
)
def shared_tile(situation: Situation) -> tuple[Variant, ...]:
    """Replace a kernel that works as one thread per output; refuse anything else."""
    return by_template(situation, "matmul_shared_tile.cu", Spread.THREAD_PER_OUTPUT)
