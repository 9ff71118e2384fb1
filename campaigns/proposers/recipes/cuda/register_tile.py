"""CUDA: keep a square of matrix sums per thread."""

from __future__ import annotations

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import About, recipe
from campaigns.proposers.recipes.cuda.by_template import by_template
from campaigns.proposers.recipes.cuda.spread import Spread
from campaigns.rules.verdict.buckets import Bucket


@recipe(
    About(
        id="cuda.register_tile",
        title="Keep a square of sums per thread",
        bucket=Bucket.K1,
        backend="cuda",
        category=Category.REGISTERS,
        change="Each thread computes SIDE x SIDE outputs in registers from tiles in shared memory.",
        rationale="With one output per thread each multiply-add waits for two loads; a square"
        " of SIDE x SIDE sums needs 2 SIDE loads for SIDE squared multiply-adds.",
        risks="More registers per thread and fewer blocks: small matrices may not fill the chip.",
        expected=lambda facts: 4.0,
        ops=("matmul",),
    )
)
def register_tile(situation: Situation) -> tuple[Variant, ...]:
    """Replace a kernel that works as one output per thread; refuse anything else."""
    return by_template(
        situation, "matmul_register_tile.cu", Spread.THREAD_PER_OUTPUT, Spread.SHARED_TILE
    )
