"""Triton: hold a whole row in registers instead of walking over it again and again."""

from __future__ import annotations

from campaigns.evaluator.contract import Source
from campaigns.proposers.base import Category, Situation, Variant
from campaigns.proposers.recipes.base import About, recipe, single, template
from campaigns.proposers.recipes.triton.plain_kernels import loops, read_plain, row_per_program
from campaigns.rules.verdict.buckets import Bucket


@recipe(
    About(
        id="triton.row_at_once",
        title="Load the row once and keep it in registers",
        bucket=Bucket.K1,
        backend="triton",
        category=Category.REGISTERS,
        change="One block as wide as the row replaces the loops over short blocks: the row is "
        "loaded once, and both reductions and the result work on registers.",
        rationale="Each turn of a loop ends in a reduction over all warps that the next turn "
        "waits for, and every value is loaded three times; one wide load needs two reductions "
        "in all and keeps the whole row in flight.",
        risks="Very long rows spill registers: past 16384 columns the loops may be better.",
        expected=lambda facts: 1.8 if (facts.share or 0) < 0.6 else 1.1,
        ops=("layernorm",),
    )
)
def row_at_once(situation: Situation) -> tuple[Variant, ...]:
    """Replace a kernel that takes one row per program in loops; refuse anything else."""
    source = situation.source
    found = read_plain(source.text, situation.op)
    if found is None or not loops(found[1]) or not row_per_program(found[1], found[2]):
        return ()
    text = template(f"triton_{situation.op}_row.py.txt")
    return single(Source(source.name, text, source.flags))
