"""CUDA: give every row a block of its own."""

from __future__ import annotations

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import About, recipe
from campaigns.proposers.recipes.cuda.by_template import by_template
from campaigns.proposers.recipes.cuda.spread import Spread
from campaigns.rules.verdict.buckets import Bucket


@recipe(
    About(
        id="cuda.block_per_row",
        title="Give every row a block",
        bucket=Bucket.K1,
        backend="cuda",
        category=Category.LAUNCH,
        change="Threads of a block share one row and combine their parts with warp shuffles.",
        rationale="With one thread per row, the lanes of a warp read addresses a whole row "
        "apart, so of each 32-byte sector 4 bytes are used, and few blocks exist to"
        " fill the chip.",
        risks="Rows much shorter than a block leave threads idle.",
        expected=lambda facts: 6.0,
        ops=("softmax", "layernorm"),
    )
)
def block_per_row(situation: Situation) -> tuple[Variant, ...]:
    """Replace a kernel that works as one thread per row; refuse anything else."""
    return by_template(situation, f"{situation.op}_block_per_row.cu", Spread.THREAD_PER_ROW)
