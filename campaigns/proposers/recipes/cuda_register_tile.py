"""CUDA: keep a square of matrix sums per thread."""

from __future__ import annotations

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import Situation, Variant
from campaigns.proposers.recipes.base import About, recipe, single
from campaigns.proposers.recipes.cuda_shapes import Spread, spread_of
from campaigns.proposers.recipes.templates import template


@recipe(
    About(
        id="cuda.register_tile",
        title="Keep a square of sums per thread",
        backend="cuda",
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
    source = situation.source
    if spread_of(source, situation.op) not in (Spread.THREAD_PER_OUTPUT, Spread.SHARED_TILE):
        return ()
    return single(Source(source.name, template("matmul_register_tile.cu"), source.flags))
