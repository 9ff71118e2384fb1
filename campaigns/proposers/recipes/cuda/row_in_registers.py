"""CUDA: keep each row in registers."""

from __future__ import annotations

from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import About, recipe
from campaigns.proposers.recipes.cuda.by_template import by_template
from campaigns.proposers.recipes.cuda.spread import Spread
from campaigns.rules.verdict.buckets import Bucket


@recipe(
    About(
        id="cuda.row_in_registers",
        title="Keep the row in registers",
        bucket=Bucket.K1,
        backend="cuda",
        category=Category.REGISTERS,
        change="A block, or a warp where rows are short, loads its row once with 16-byte "
        "accesses, holds it in registers through all reductions and writes the result once.",
        rationale="Three passes move the row up to five times between chip and memory; one "
        "read and one write are the least there can be.",
        risks="Needs pointers aligned to 16 bytes; long rows take many registers and "
        "lower occupancy.",
        expected=lambda facts: 1.6,
        ops=("softmax", "layernorm"),
    )
)
def row_in_registers(situation: Situation) -> tuple[Variant, ...]:
    """Replace a kernel that works as one block per row in three passes; refuse anything else."""
    return by_template(situation, f"{situation.op}_row_in_registers.cu", Spread.BLOCK_PER_ROW)
